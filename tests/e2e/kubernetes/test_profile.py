# SPDX-License-Identifier: Apache-2.0
"""`assay cluster profile` on a real cluster: a real Prometheus scrapes its kubelet and a replayed exporter of GPUs, and what is
found goes to annotations of a node, of pods and of an MPIJob."""
import contextlib
import json
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import threading
import urllib.request

import dcgm_replay
import pytest
import training_jobs
from conftest import ASSAY, HERE, wait_until
from prometheus import Prometheus

RECORDING = HERE.parents[1] / "tests/recordings/jobs/training-train_cnn-large.csv"
BUSY = training_jobs.pod_template(command=("sh", "-c", "while true; do :; done"), resources={"limits": {"cpu": "200m"}})
DOMAIN = "ai.centaurus.io/"


@pytest.fixture(scope="module")
def node(cluster):
    """A node with two GPUs, as the cluster counts them."""
    return cluster.give_gpus("NVIDIA-H200", 2)


@pytest.fixture(scope="module")
def gpus(node):
    """Two whole ones and one that is divided."""
    exporter = dcgm_replay.Gpus(node, 3, [f"0=default/train-worker-0/main={RECORDING}",
                                          f"2=default/train-launcher/main={RECORDING}"], divided={2: ["1g.18gb", "1g.18gb"]})
    server = dcgm_replay.serve(exporter, "127.0.0.1:0")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(scope="module")
def prometheus(cluster, gpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "token").write_text(cluster.env["TOKEN"])
    server = Prometheus(folder, f"""
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: cadvisor
  scrape_interval: 5s
  scrape_timeout: 5s
  scheme: https
  metrics_path: /metrics/cadvisor
  tls_config: {{insecure_skip_verify: true}}
  authorization: {{credentials_file: {folder}/token}}
  static_configs: [{{targets: ["{cluster.env['KUBELET'].removeprefix('https://')}"]}}]
- job_name: dcgm
  honor_labels: true
  static_configs: [{{targets: ["{gpus}"]}}]
""")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def job(cluster):
    """An MPIJob with a launcher and two workers, all busy."""
    training_jobs.define_kinds(cluster)
    operator = training_jobs.Operator(cluster, training_jobs.mpi_job("train", template=BUSY))
    operator.wait_for_pods(*operator.start_pods())
    yield operator
    training_jobs.remove_kinds(cluster)


class Profiler:
    def __init__(self, cluster, prometheus, folder, *more):
        folder.mkdir(exist_ok=True)
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [ASSAY, "cluster", "profile", "--prometheus", f"http://{prometheus.address}", "--interval", "1s",
                 "--listen", "127.0.0.1:0", "--store", str(folder / "history.db"), *more], env=cluster.env, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.log.read_text()

    def metrics(self):
        port = re.search(r"metrics at port (\d+)", self.log.read_text())
        if not port:
            return {}
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port[1]}/metrics", timeout=5) as answer:
            lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
            return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}
        return {}

    def value(self, name):
        return wait_until(self.metrics, 180, "it tells of itself", every=0.2)[name]

    def rounds(self):
        return self.metrics().get("assay_cluster_rounds_total", 0)


def annotations(cluster, *words):
    """Ours, of one object, as JSON tells them."""
    found = cluster.json(*words)["metadata"].get("annotations", {})
    return {key.removeprefix(DOMAIN): json.loads(value) for key, value in found.items() if key.startswith(DOMAIN)}


def apply_as(cluster, manager, words, **annotations_):
    """Server-side: these annotations of an object, and no others, are that manager's."""
    found = cluster.json(words)
    metadata = {key: found["metadata"][key] for key in ("name", "namespace")}
    wanted = {"apiVersion": found["apiVersion"], "kind": found["kind"],
              "metadata": {**metadata, "annotations": {DOMAIN + key: value for key, value in annotations_.items()}}}
    cluster.kubectl("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", "-f", "-",
                    text=json.dumps(wanted))


def change_history(folder, kind, change):
    """Changes all documents of a kind, as if more had happened."""
    with contextlib.closing(sqlite3.connect(folder / "history.db")) as store, store:
        documents = store.execute("SELECT name, body FROM documents WHERE kind = ?", (kind,)).fetchall()
        assert documents, kind
        for name, body in documents:
            document = json.loads(body)
            change(document)
            store.execute("UPDATE documents SET body = ? WHERE kind = ? AND name = ?", (json.dumps(document), kind, name))


class Links:
    """Passes connections on to the API server; those that are open can be broken."""

    def __init__(self, cluster, folder):
        config = json.loads(cluster.kubectl("config", "view", "--raw", "-o", "json"))
        host, port = config["clusters"][0]["cluster"]["server"].removeprefix("https://").split(":")
        self._to, self._open, self._lock = (host, int(port)), [], threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self.kubeconfig = pathlib.Path(folder) / "kubeconfig"
        self.kubeconfig.write_text(json.dumps(config))
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
        for link in self.open():
            self.cut(link)

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, far = self._listener.accept()[0], socket.create_connection(self._to)
                with self._lock:
                    self._open.append((near, far))
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=(source, sink, (near, far)), daemon=True).start()

    def _pass(self, source, sink, link):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                sink.sendall(piece)
        self.cut(link)

    def open(self):
        with self._lock:
            return list(self._open)

    def cut(self, link):
        with self._lock:
            if link in self._open:
                self._open.remove(link)
        for end in link:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def test_nodes_pods_and_jobs_carry_what_they_use(cluster, node, prometheus, job, tmp_path):
    with Profiler(cluster, prometheus, tmp_path) as profiler:
        def ready():
            of_job, of_node = annotations(cluster, f"{job.resource}/train"), annotations(cluster, f"node/{node}")
            return (of_job.get("train-worker-0", {}).get(f"{node}-gpu-0_util", 0) > 50 and
                    of_node.get("gpu-0", {}).get("max_gpu_util", 0) > 50 and {"gpu-static", "gpu-1"} <= set(of_node))
        wait_until(ready, 180, lambda: f"{annotations(cluster, f'{job.resource}/train')} {profiler.log.read_text()}", every=0.5)

        of_node = annotations(cluster, f"node/{node}")
        assert of_node["gpu-static"]["count"] == "2" and of_node["gpu-static"]["model"] == "NVIDIA H200"
        assert of_node["gpu-static"]["mem_size"] == "140GB"
        assert of_node["gpu-1"]["max_gpu_util"] == 0
        wait_until(lambda: annotations(cluster, f"node/{node}")["gpu-1"].get("cyclic_pattern") is False, 120,
                   "after twenty values there is an answer", every=0.5)

        wait_until(lambda: "cpu_util" in annotations(cluster, "pod/train-worker-1"), 120, "the kubelet tells of pods", every=0.5)
        # It may have 20; on a busy machine it gets less.
        wait_until(lambda: 2 < annotations(cluster, "pod/train-worker-0").get("max_cpu_util", 0) < 40, 180,
                   lambda: f"percent of a core: {annotations(cluster, 'pod/train-worker-0')}", every=0.5)
        of_pod = annotations(cluster, "pod/train-worker-0")
        assert of_pod[f"{node}-gpu-0_util"] <= of_pod[f"max_{node}-gpu-0_util"] <= 100
        assert of_pod[f"max_{node}-gpu-0_mem_util"] > 0

        of_job = annotations(cluster, f"{job.resource}/train")
        assert {"train-launcher", "train-worker-0", "train-worker-1", "usage"} <= set(of_job)
        assert of_job["usage"]["gpus"]["max"] == 2
        # An instance of a GPU that is divided, of which only the engine is told, is as good as a whole one.
        wait_until(lambda: annotations(cluster, f"node/{node}")["gpu-2.1"].get("class"), 120, "it has patterns", every=0.5)
        divided = annotations(cluster, f"node/{node}")
        assert divided["gpu-2.1"]["mig_profile"] == "1g.18gb" and divided["gpu-2.1"]["max_gpu_util"] > 50
        assert divided["gpu-2.2"]["max_gpu_util"] == 0 and "gpu-2" not in divided
        assert annotations(cluster, "pod/train-launcher")[f"max_{node}-gpu-2.1_util"] > 50
        # As people look for it today.
        wait_until(lambda: re.search(r"ai.centaurus.io/gpu-0:\s+.*\"cyclic_pattern\": (true|false)",
                                     cluster.kubectl("describe", "node", node)), 60,
                   lambda: cluster.kubectl("describe", "node", node), every=0.5)


def test_a_worker_that_is_gone_stays_in_its_job_also_after_a_restart(cluster, node, prometheus, job, tmp_path):
    with Profiler(cluster, prometheus, tmp_path) as profiler:
        wait_until(lambda: profiler.rounds() >= 3, 180, profiler.log.read_text, every=0.2)
        wait_until(lambda: annotations(cluster, f"{job.resource}/train").get("train-worker-1", {}).get("cpu_util"), 180,
                   "it was seen", every=0.5)
        job.end_pod("train-worker-1")
        wait_until(lambda: "pod/train-worker-1" not in cluster.names("pods"), 120, "it is gone", every=0.2)
        before = annotations(cluster, f"{job.resource}/train")["train-worker-1"]

    def was_busier(document):
        document["uses"]["cores"]["max"] = 5

    def was_used(document):
        document["gpus"]["1"]["utilization"]["max"] = 77
    change_history(tmp_path, "cluster-worker", was_busier)
    change_history(tmp_path, "cluster-node", was_used)
    with Profiler(cluster, prometheus, tmp_path) as profiler:
        # Pods and nodes and their GPUs are read back too.
        wait_until(lambda: annotations(cluster, "pod/train-worker-0").get("max_cpu_util") == 500, 180, profiler.log.read_text,
                   every=0.5)
        wait_until(lambda: annotations(cluster, f"node/{node}").get("gpu-1", {}).get("max_gpu_util") == 77, 180, profiler.log.read_text,
                   every=0.5)
        after = annotations(cluster, f"{job.resource}/train")
        assert after["train-worker-1"]["cpu_util"] >= before["cpu_util"] > 0


def kept_jobs(folder, *more):
    out = subprocess.run([ASSAY, "cluster", "jobs", "--json", "--store", str(folder / "history.db"), *more],
                         check=True, capture_output=True, text=True).stdout
    return {job["name"]: job for job in json.loads(out)}


def test_a_job_that_ended_while_the_profiler_was_away_has_ended(cluster, prometheus, tmp_path):
    trial = {"metadata": {"labels": {"assay.trial": "brief"}}, **BUSY}
    for name, template in ("brief", BUSY), ("brief-trial-a", trial):
        cluster.kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                                                              "spec": {"template": template}}))
    try:
        with Profiler(cluster, prometheus, tmp_path) as profiler:
            wait_until(lambda: all("cpu_util" in annotations(cluster, f"job/{name}").get("usage", {})
                                   for name in ("brief", "brief-trial-a")), 180, profiler.log.read_text, every=0.5)
    finally:
        cluster.kubectl("delete", "job", "brief", "brief-trial-a", "--wait=false")
    before = kept_jobs(tmp_path)["brief"]
    assert not before["gone"] and before["cores"]["mean"] <= before["cores"]["max"] and before["gpus"] == 0
    wait_until(lambda: not any(name.startswith("pod/brief") for name in cluster.names("pods")), 180, "they are gone", every=0.5)
    with Profiler(cluster, prometheus, tmp_path, "--rounds", "6") as profiler:
        assert profiler.process.wait(180) == 0, profiler.log.read_text()
        assert re.search(r"6 rounds: \d+ nodes?.*, \d+ pods? and \d+ jobs? seen, \d+ patch(es)? written", profiler.log.read_text())
    after = kept_jobs(tmp_path)
    assert after["brief"]["gone"] and after["brief"]["last"] == before["last"] and "brief-trial-a" not in after
    assert kept_jobs(tmp_path, "--trials")["brief-trial-a"]["trial"] == "brief"


def test_a_pod_of_a_set_that_an_operator_made_belongs_to_its_job(cluster, prometheus, job, tmp_path):
    # As some operators do: without saying that they control it.
    owner = {"apiVersion": job.job["apiVersion"], "kind": job.kind, "name": "train", "uid": job.job["metadata"]["uid"]}
    spec = {**BUSY["spec"], "restartPolicy": "Always"}
    cluster.kubectl("create", "-f", "-", text=json.dumps({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "parameters", "ownerReferences": [owner]},
        "spec": {"replicas": 1, "serviceName": "parameters", "selector": {"matchLabels": {"app": "parameters"}},
                 "template": {"metadata": {"labels": {"app": "parameters"}}, "spec": spec}}}))
    try:
        with Profiler(cluster, prometheus, tmp_path) as profiler:
            wait_until(lambda: annotations(cluster, f"{job.resource}/train").get("parameters-0", {}).get("cpu_util"), 180,
                       profiler.log.read_text, every=0.5)
    finally:
        cluster.kubectl("delete", "statefulset", "parameters", "--wait=false")


@contextlib.contextmanager
def restarted(prometheus):
    """Tests that follow find it running, whatever becomes of this one."""
    try:
        yield
    finally:
        if not prometheus.process:
            prometheus.start()


def test_it_goes_on_when_the_api_server_or_prometheus_was_away(cluster, prometheus, job, tmp_path):
    def away(profiler, failed):
        wait_until(lambda: profiler.value("assay_cluster_failed_readings_total") > failed, 180, "it notices", every=0.2)
        prometheus.start()

    prometheus.kill()  # either may start first
    with restarted(prometheus), Profiler(cluster, prometheus, tmp_path) as profiler:
        away(profiler, 0)
        wait_until(lambda: profiler.value("assay_cluster_gpus") > 0, 180, profiler.log.read_text, every=0.2)
        failed = profiler.value("assay_cluster_failed_readings_total")
        prometheus.kill()
        away(profiler, failed)
        try:
            cluster.call("end-api")
            rounds = profiler.value("assay_cluster_rounds_total")
            wait_until(lambda: profiler.rounds() >= rounds + 2, 180, "rounds go on", every=0.2)
        finally:
            cluster.call("start-api", timeout=300)
        cluster.wait_for_controllers()
        cluster.kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "late"}, "spec": BUSY["spec"]}))
        wait_until(lambda: "cpu_util" in annotations(cluster, "pod/late"), 180, profiler.log.read_text, every=0.5)
        wait_until(lambda: profiler.value("assay_cluster_reading_age_seconds") < 20, 60, "it reads again", every=0.5)
        assert profiler.process.poll() is None
        cluster.end_pod("late")


def test_watches_that_break_one_by_one_are_resumed(cluster, prometheus, job, tmp_path):
    with Links(cluster, tmp_path) as links, Profiler(cluster, prometheus, tmp_path, "--kubeconfig",
                                                     str(links.kubeconfig)) as profiler:
        wait_until(lambda: profiler.rounds() >= 2, 180, profiler.log.read_text, every=0.2)
        wait_until(lambda: len(links.open()) >= 6, 60, "pods, nodes, and what stands between are watched", every=0.2)
        broken = links.open()
        for link in broken:
            links.cut(link)
        cluster.kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "after"}, "spec": BUSY["spec"]}))
        wait_until(lambda: "cpu_util" in annotations(cluster, "pod/after"), 180, profiler.log.read_text, every=0.5)
        pods = profiler.value("assay_cluster_pods")
        cluster.end_pod("after")
        wait_until(lambda: profiler.value("assay_cluster_pods") < pods, 180, profiler.log.read_text, every=0.5)


def test_a_key_that_somebody_else_takes_is_left_to_them_until_they_give_it_back(cluster, prometheus, job, tmp_path):
    pod = "pod/train-worker-0"

    def ours():
        """Keys of the pod that are in our name."""
        books = cluster.json(pod)["metadata"].get("managedFields", [])
        return {key.removeprefix("f:" + DOMAIN) for book in books if book["manager"] == "assay-profiler"
                for key in book["fieldsV1"].get("f:metadata", {}).get("f:annotations", {})}

    def profile(is_done):
        """Until it is done, and some rounds more; gives the log."""
        with Profiler(cluster, prometheus, tmp_path) as profiler:
            wait_until(lambda: is_done(profiler.log.read_text()), 180, profiler.log.read_text, every=0.5)
            rounds = profiler.value("assay_cluster_rounds_total")
            wait_until(lambda: profiler.rounds() >= rounds + 3, 180, profiler.log.read_text, every=0.2)
        return profiler.log.read_text()

    profile(lambda _: {"cpu_util", "max_cpu_util"} <= ours())
    apply_as(cluster, "other", pod, cpu_util="-1")
    log = profile(lambda log: "belongs to 'other'" in log)
    assert annotations(cluster, pod)["cpu_util"] == -1
    assert "max_cpu_util" in ours() and "cpu_util" not in ours(), "the others are written"
    assert len(re.findall(r'cpu_util.* belongs to \'other\'', log)) == 1, log
    apply_as(cluster, "other", pod)
    assert "belongs to" not in profile(lambda _: "cpu_util" in ours())
    assert annotations(cluster, pod)["cpu_util"] >= 0


def test_of_two_replicas_one_writes_and_the_other_follows(cluster, prometheus, job, tmp_path):
    with Profiler(cluster, prometheus, tmp_path / "a", "--namespace", "default") as first:
        wait_until(lambda: first.value("assay_cluster_leads") == 1, 180, first.log.read_text, every=0.2)
        with Profiler(cluster, prometheus, tmp_path / "b", "--namespace", "default") as second:
            wait_until(lambda: second.rounds() >= 3, 180, second.log.read_text, every=0.2)
            assert second.value("assay_cluster_leads") == 0
            assert second.value('assay_cluster_patches_total{outcome="done"}') == 0
            first.process.kill()  # without a word
            first.process.wait()
            wait_until(lambda: second.value("assay_cluster_leads") == 1, 180, second.log.read_text, every=0.2)
            wait_until(lambda: second.value('assay_cluster_patches_total{outcome="done"}') > 0, 180, "it writes", every=0.2)
        first.process.returncode = 0  # as wanted


def test_clean_takes_all_of_ours_and_nothing_else(cluster, node, prometheus, job, tmp_path):
    cluster.kubectl("annotate", "node", node, "ai.centaurus.io/mine=1", "--overwrite")
    without_pods = training_jobs.Operator(cluster, training_jobs.pytorch_job("without-pods"))
    apply_as(cluster, "assay-profiler", f"{without_pods.resource}/without-pods", usage="1")
    with Profiler(cluster, prometheus, tmp_path) as profiler:
        wait_until(lambda: profiler.rounds() >= 2 and "gpu-0" in annotations(cluster, f"node/{node}"), 180,
                   profiler.log.read_text, every=0.2)
    done = subprocess.run([ASSAY, "cluster", "clean"], env=cluster.env, check=True, capture_output=True, text=True, timeout=60)
    assert re.search(r"^\d+ objects cleaned$", done.stdout.strip()), done
    assert annotations(cluster, f"node/{node}") == {"mine": 1}
    assert annotations(cluster, "pod/train-worker-0") == {}
    assert annotations(cluster, f"{job.resource}/train") == {}
    assert annotations(cluster, f"{without_pods.resource}/without-pods") == {}


def test_leftovers_of_trials_are_not_looked_for_in_a_namespace_that_is_not_there(cluster):
    def clean(namespace):
        return subprocess.run([ASSAY, "cluster", "trial", "--clean", "-n", namespace], env=cluster.env, capture_output=True, text=True)
    assert clean("default").returncode == 0
    nowhere = clean("nope")
    assert nowhere.returncode == 2 and "the cluster has no namespace 'nope'" in nowhere.stderr
