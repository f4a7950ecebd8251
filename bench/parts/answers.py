# SPDX-License-Identifier: Apache-2.0
"""How long callers wait for a placement over 100 devices, at 1,000 requests a second."""
import contextlib
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse

import harness

TITLE = "answering"
DEVICES, PER_SECOND, SECONDS, ROUNDS = 100, 1000, 10, 3
OLD_WAY_PER_SECOND = 5
CALL = {"model": "resnet", "conv_layers": 53, "pool_layers": 2, "fc_layers": 1, "filter_details": 26560,
        "total_parameters": 25557032, "model_input_size": 602112, "model_output_size": 4000}
ROUTES = {"/api/profiling": (1, CALL), "/api/v1/placements": (0, {"models": [CALL]})}


class OneCore:
    """A process on the first core; callers are to use the others."""

    cores = sorted(os.sched_getaffinity(0))
    others = ",".join(map(str, cores[1:] or cores))

    def __init__(self, words, **more):
        self.process = subprocess.Popen(["taskset", "-c", str(self.cores[0]), *map(str, words)], text=True, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Service(OneCore):
    """`assay serve`, with nothing else."""

    def __init__(self, bench, learned, *more):
        self.folder = bench.work / "service"
        self.folder.mkdir(exist_ok=True)
        super().__init__([bench.assay, "serve", "--listen", "127.0.0.1:0", "--old-routes", "127.0.0.1:0", "--old-rate",
                          "1000000", "--learned", learned, "--store", self.folder / "history.db", *more],
                         stderr=subprocess.PIPE)
        self.ports = []
        while len(self.ports) < 2:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("the service did not start")
            self.ports += [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", line)]

    def token(self):
        return (self.folder / "token").read_text(encoding="utf-8").strip()


@contextlib.contextmanager
def prometheus():
    """The address of a stand-in that knows nodes of one device model, each as busy as no other."""
    names = [f"node-{number:03}" for number in range(DEVICES)]
    labels = [{"char_node_name": name, "char_node_uuid": f"uuid-{name}", "char_node_class": "Computer",
               "char_node_device_model_name": "Known Board", "instance": "identities"} for name in names]
    own = [{"instance": name} for name in names]
    known = {"last_over_time(char_node_device_model[": (labels, lambda _: 1),
             "(time() - timestamp(char_node_device_model)": (labels, lambda _: 2),
             "(1 - sum by (instance) (rate(node_cpu_seconds_total": (own, lambda number: number / DEVICES),
             "time() - max by (instance) (timestamp(node_cpu": (own, lambda _: 2),
             "node_memory_MemAvailable_bytes": (own, lambda number: 1e9 + 1e7 * number)}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["query"][0]
            series, value = next((known[start] for start in known if query.startswith(start)), ([], None))
            result = [{"metric": metric, "value": [time.time(), str(value(number))]}
                      for number, metric in enumerate(series)]
            body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(bench, process, port, path, body, per_second, token=""):
    file = bench.work / "call.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    before = process.cpu_seconds()
    found = json.loads(bench.command("taskset", "-c", process.others, bench.bin / "answer_load", "ask", port, path,
                                     file, per_second, SECONDS, token))
    return {**found, "cpu_ms": 1000 * (process.cpu_seconds() - before) / found["answers"]}


def ask_service(bench, *more):
    learned = bench.work / "placement.json"
    bench.command(bench.bin / "answer_load", "learn", learned, str(DEVICES))
    with Service(bench, learned, *more) as service:
        return {path: [ask(bench, service, service.ports[port], path, body, PER_SECOND, service.token())
                       for _ in range(ROUNDS)] for path, (port, body) in ROUTES.items()}


def ask_like_nodes(bench):
    with prometheus() as url:
        return ask_service(bench, "--prometheus", url)


def ask_old_way(bench):
    """Where Debian's packages cannot be fetched, why not."""
    root = harness.ROOT / "tests/witness/xgboost_root.sh"
    made = subprocess.run([root, bench.bin.parent / "old_way", "python3-sklearn", "python3-sklearn-lib",
                           "python3-joblib", "python3-threadpoolctl"], capture_output=True, text=True)
    if made.returncode:
        return {"problem": made.stderr.strip()}
    packages, libraries = made.stdout.split()
    program = harness.ROOT / "bench/programs/old_way.py"
    with OneCore(["/usr/bin/python3", program, bench.work, DEVICES], stdout=subprocess.PIPE,
                 env=dict(os.environ, PYTHONPATH=packages, LD_LIBRARY_PATH=libraries)) as server:
        port = int(server.process.stdout.readline())
        return ask(bench, server, port, "/api/profiling", CALL, OLD_WAY_PER_SECOND)


def add_rows(bench, what, found):
    for path, rounds in found.items():
        p99 = max(one["p99_ms"] for one in rounds)
        refused = sum(one["refused"] for one in rounds)
        beside = (f"{PER_SECOND}/s on one core, {ROUNDS} times {SECONDS} s; "
                  f"p50 {max(o['p50_ms'] for o in rounds):.2f} ms, longest {max(o['most_ms'] for o in rounds):.1f} ms, "
                  f"{refused} refused; {min(o['cpu_ms'] for o in rounds):.3f} to "
                  f"{max(o['cpu_ms'] for o in rounds):.3f} ms of CPU time a request, "
                  f"{rounds[0]['bytes'] / 1000:.1f} kB an answer")
        bench.row(f"{path} over {what}, p99, worst round", f"{p99:.2f} ms", beside, "at most 2 ms",
                  p99 <= 2 and refused == 0)


def run(bench):
    found = bench.once(f"{DEVICES} devices", lambda: ask_service(bench))
    add_rows(bench, f"{DEVICES} devices", found)
    like = bench.once(f"{DEVICES} like nodes", lambda: ask_like_nodes(bench))
    add_rows(bench, f"{DEVICES} nodes of one device model", like)
    old = bench.once("the old way", lambda: ask_old_way(bench))
    if "problem" in old:
        bench.row("the old way in Python", "not measured", old["problem"])
        return
    ours = found["/api/profiling"]
    cpu = sorted(one["cpu_ms"] for one in ours)[ROUNDS // 2]
    bench.row(f"the old way in Python over {DEVICES} devices, p50", f"{old['p50_ms']:.0f} ms",
              f"each request loads a pipeline of scikit-learn and XGBoost by joblib; {OLD_WAY_PER_SECOND}/s on one "
              f"core, p99 {old['p99_ms']:.0f} ms; {old['cpu_ms']:.1f} ms of CPU time a request, "
              f"{old['cpu_ms'] / cpu:.0f} x that of /api/profiling")
