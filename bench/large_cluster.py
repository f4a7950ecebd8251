# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the API server and the Prometheus of a large cluster: what their real ones would answer, made up."""
import contextlib
import http.server
import json
import queue
import random
import re
import threading
import time
import urllib.parse

NODES, GPUS, PODS, JOBS = 1000, 8, 20000, 400


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # of a profiler that has ended
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def owner(number):
    if number < JOBS * 16:  # workers of MPIJobs
        return {"apiVersion": "kubeflow.org/v1", "kind": "MPIJob", "name": f"train-{number % JOBS}",
                "uid": f"mpi-{number % JOBS}", "controller": True}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{number % 1500}",
            "uid": f"set-{number % 1500}", "controller": True}


def pod(number):
    name = f"pod-{number:05}"
    env = [{"name": f"VARIABLE_{i}", "value": "some words that a pod has in its environment"} for i in range(10)]
    return {"metadata": {"name": name, "namespace": f"team-{number % 20}", "uid": f"pod-{number}",
                         "resourceVersion": "100", "labels": {"app": name, "tier": "a"}, "ownerReferences": [owner(number)],
                         "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": f"node-{number % NODES:04}",
                     "containers": [{"name": "main", "image": "team/app:1", "env": env,
                                     "resources": {"limits": {"cpu": "2", "memory": "4Gi"}}}]},
            "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "containerStatuses": [
                {"name": "main", "containerID": f"docker://{number:064x}"}]}}


def node(number):
    return {"metadata": {"name": f"node-{number:04}", "uid": f"node-{number}", "resourceVersion": "100",
                         "labels": {"nvidia.com/gpu.product": "H200", "kubernetes.io/hostname": f"node-{number:04}"}},
            "status": {"capacity": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": str(GPUS)},
                       "allocatable": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": str(GPUS)},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


class Api:
    """Lists in pages, watches, and takes patches, of which it tells the watchers, as a real one does."""

    def __init__(self):
        self.objects = {
            "pods": [json.dumps(pod(i)).encode() for i in range(PODS)],
            "nodes": [json.dumps(node(i)).encode() for i in range(NODES)],
            "jobs": [], "statefulsets": [],
            "deployments": [json.dumps({"metadata": {"name": f"web-{i}", "namespace": f"team-{i % 20}",
                                                     "uid": f"dep-{i}"}}).encode() for i in range(1500)],
            "replicasets": [json.dumps({"metadata": {
                "name": f"web-{i}", "namespace": f"team-{i % 20}", "uid": f"set-{i}", "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": f"web-{i}", "uid": f"dep-{i}",
                     "controller": True}]}}).encode() for i in range(1500)]}
        self.lock = threading.Lock()
        self.patches, self.requests = [], 0
        self.watchers = {kind: [] for kind in self.objects}

    def handler(self):
        api = self

        class ApiHandler(Handler):
            def do_GET(self):
                with api.lock:
                    api.requests += 1
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                kind = url.path.rsplit("/", 1)[1]
                if url.path == "/apis/kubeflow.org/v1":
                    return self.answer(json.dumps({"groupVersion": "kubeflow.org/v1", "resources": [
                        {"name": "mpijobs", "kind": "MPIJob", "namespaced": True}]}).encode())
                if "/mpijobs/" in url.path:
                    return self.answer(json.dumps({"metadata": {
                        "name": kind, "namespace": "x", "uid": kind.replace("train", "mpi")}}).encode())
                if url.path == "/api/v1/namespaces/kube-system":
                    return self.answer(b'{"metadata": {"name": "kube-system", "uid": "cluster"}}')
                if query.get("watch"):
                    return self.watch(kind, float(query.get("timeoutSeconds", 60)))
                begin, limit = int(query.get("continue") or 0), int(query.get("limit") or 10 ** 9)
                items = api.objects[kind][begin:begin + limit]
                more = str(begin + limit) if begin + limit < len(api.objects[kind]) else ""
                meta = {"resourceVersion": "100", "continue": more}
                return self.answer(b'{"kind": "List", "metadata": ' + json.dumps(meta).encode() + b', "items": [' +
                                   b",".join(items) + b"]}")

            def watch(self, kind, seconds):
                events = queue.Queue()
                with api.lock:
                    api.watchers[kind].append(events)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                end = time.monotonic() + seconds
                with contextlib.suppress(OSError):
                    while (left := end - time.monotonic()) > 0:
                        with contextlib.suppress(queue.Empty):
                            line = events.get(timeout=min(left, 1))
                            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                            self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                with api.lock:
                    api.watchers[kind].remove(events)
                return None

            def do_PATCH(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                path = urllib.parse.urlsplit(self.path).path
                kind, name = path.split("/")[-2:]
                with api.lock:
                    api.requests += 1
                    api.patches.append((time.monotonic(), kind, name, len(body)))
                    watchers = list(api.watchers.get(kind, []))
                meta = json.loads(body)["metadata"]
                if kind in ("pods", "nodes"):
                    changed = (pod if kind == "pods" else node)(int(name[-5:] if kind == "pods" else name[-4:]))
                    changed["metadata"]["annotations"] = meta["annotations"]
                    line = json.dumps({"type": "MODIFIED", "object": changed}).encode() + b"\n"
                    for watcher in watchers:
                        watcher.put(line)
                self.answer(json.dumps({"metadata": {"name": name, "uid": meta.get("uid", ""), "resourceVersion": "101"}})
                            .encode())
        return ApiHandler


class Prometheus:
    """Levels that stay within a percent, but for those that are moved."""

    def __init__(self):
        self.random = random.Random(7)
        self.pod_level = [self.random.uniform(.3, 3) for _ in range(PODS)]
        self.node_level = [self.random.uniform(5, 40) for _ in range(NODES)]
        self.gpu_level = [self.random.uniform(20, 95) for _ in range(NODES * GPUS)]
        self.series = [",".join(f'[{{}},"{50 + 40 * (i // 20 % 2) + self.random.uniform(-3, 3):.0f}"]' for i in range(481))
                       for _ in range(20)]
        self.queries = 0

    def move(self, share):
        for levels in (self.pod_level, self.node_level):
            for number in self.random.sample(range(len(levels)), max(1, round(share * len(levels)))):
                levels[number] *= 3 if levels[number] < 3 else .3

    def move_all(self):
        """Each pod by a factor of its own, which is returned by the pod's name."""
        factors = [self.random.uniform(1.3, 8) for _ in range(PODS)]
        for number, factor in enumerate(factors):
            self.pod_level[number] *= factor if self.pod_level[number] < 3 else 1 / factor
        return {f"pod-{number:05}": factor for number, factor in enumerate(factors)}

    def noisy(self, value):
        return value * self.random.uniform(.99, 1.01)

    def pods(self, level):
        return [({"namespace": f"team-{i % 20}", "pod": f"pod-{i:05}"}, level(i)) for i in range(PODS)]

    def instances(self, level):
        return [({"instance": f"node-{i:04}:9100", "job": "node"}, level(i)) for i in range(NODES)]

    def vector(self, query):
        if query.startswith("count by (__name__)"):
            names = re.search(r'=~"([^"]*)"', query)[1].split("|")
            return [({"__name__": name}, 1) for name in names
                    if not name.startswith(("assay", "kube", "DCGM_FI_PROF", "container_spec", "DCGM_FI_DEV_PCIE"))]
        if query.startswith("count(container"):
            return [({}, PODS)] if '{pod!=""' in query else []
        if "count_over_time" in query:
            return [({}, 20)]
        if query == "node_uname_info":
            return [({"instance": f"node-{i:04}:9100", "nodename": f"node-{i:04}"}, 1) for i in range(NODES)]
        if "DCGM_FI_DEV_GPU_UTIL" in query:
            return [({"gpu": str(i % GPUS), "UUID": f"GPU-{i:05}", "modelName": "NVIDIA H200", "Hostname": f"node-{i // GPUS:04}",
                      "exported_pod": f"pod-{i:05}", "exported_namespace": f"team-{i % 20}"} if i < JOBS * 16 else
                     {"gpu": str(i % GPUS), "UUID": f"GPU-{i:05}", "modelName": "NVIDIA H200",
                      "Hostname": f"node-{i // GPUS:04}"}, self.noisy(self.gpu_level[i])) for i in range(NODES * GPUS)]
        if "DCGM" in query:
            return [({"UUID": f"GPU-{i:05}"}, self.noisy(60000)) for i in range(NODES * GPUS)]
        if "container_cpu" in query:
            return self.pods(lambda i: self.noisy(self.pod_level[i]))
        if "container_memory" in query:
            return self.pods(lambda _: self.noisy(2e9))
        if "container_" in query:
            return self.pods(lambda _: self.noisy(1e5))
        if "node_cpu" in query:
            return self.instances(lambda i: self.noisy(self.node_level[i]))
        return self.instances(lambda _: self.noisy(3e8))

    def handler(self):
        prometheus = self

        class PrometheusHandler(Handler):
            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                prometheus.queries += 1
                now = time.time()
                if url.path.endswith("query_range"):
                    return self.answer(prometheus.matrix(query))
                items = ",".join(f'{{"metric":{json.dumps(labels, separators=(",", ":"))},"value":[{now:.3f},"{value:.6g}"]}}'
                                 for labels, value in prometheus.vector(query["query"]))
                return self.answer(f'{{"status":"success","data":{{"resultType":"vector","result":[{items}]}}}}'.encode())
        return PrometheusHandler

    def matrix(self, query):
        begin, end, step = float(query["start"]), float(query["end"]), float(query["step"].rstrip("s"))
        times = [f"{begin + i * step:.3f}" for i in range(int((end - begin) / step) + 1)][:481]
        items = []
        for uuid in re.search(r'UUID=~"([^"]*)"', query["query"])[1].split("|"):
            series = self.series[int(uuid[-5:]) % len(self.series)]
            items.append(f'{{"metric":{{"UUID":"{uuid}"}},"values":[' +
                         ",".join(series.split("],")[i].replace("{}", times[i]).rstrip("]") + "]"
                                  for i in range(len(times))) + "]}")
        return f'{{"status":"success","data":{{"resultType":"matrix","result":[{",".join(items)}]}}}}'.encode()
