# SPDX-License-Identifier: Apache-2.0
"""What one profiler of a large cluster costs, with stand-ins for its API server and its Prometheus."""
import contextlib
import json
import os
import re
import subprocess
import time
import urllib.request

from large_cluster import JOBS, NODES, PODS, Api, Prometheus, Server

TITLE = "profiling a cluster of 1,000 nodes with 8 GPUs each and 20,000 pods"
INTERVAL, CHANGING, STEADY_ROUNDS, BURST_SECONDS = 30, .005, 5, 120
WARM_ROUNDS = 11  # after which all GPUs have been looked at
CORES, MEMORY, REQUESTS = .5, 300e6, 5
FAST, USUAL = 1000, 20  # requests a second that the profiler is allowed
FIRST = .1  # of the objects written in a burst: are they those that changed most?


class Profiler:
    def __init__(self, bench, api, prometheus, requests):
        config = bench.work / "kubeconfig"
        config.write_text(json.dumps({
            "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": api.url}}], "users": [{"name": "u", "user": {}}]}),
            encoding="utf-8")
        store = bench.work / "history.db"
        self.log = (bench.work / "profiler.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [bench.assay, "cluster", "profile", "--prometheus", prometheus.url, "--kubeconfig", config, "--interval",
             f"{INTERVAL}s", "--requests", str(requests), "--listen", "127.0.0.1:0", "--store", store], stderr=self.log)
        self.port = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)

    def metrics(self):
        if self.port is None:
            text = open(self.log.name, encoding="utf-8").read()
            found = re.search(r"metrics at port (\d+)", text)
            if not found:
                return {}
            self.port = int(found[1])
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in
                (line.rsplit(" ", 1) for line in lines if not line.startswith("#") and "{" not in line)}

    def wait(self, wanted, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("the profiler ended: " + open(self.log.name, encoding="utf-8").read())
            if wanted(self.metrics()):
                return
            time.sleep(.2)
        raise RuntimeError(f"not within {seconds} s: {self.metrics()}")

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])


@contextlib.contextmanager
def cluster(bench):
    for file in bench.work.glob("history.db*"):
        file.unlink()
    api, prometheus = Api(), Prometheus()
    with Server(("127.0.0.1", 0), api.handler()) as api_server, \
            Server(("127.0.0.1", 0), prometheus.handler()) as prometheus_server:
        yield api, prometheus, lambda requests: Profiler(bench, api_server, prometheus_server, requests)


def next_round(profiler, count=1):
    done = profiler.metrics()["assay_cluster_rounds_total"] + count
    profiler.wait(lambda m: m["assay_cluster_rounds_total"] >= done, 3 * count * INTERVAL)
    return profiler.metrics()


def wait_for_all(api, profiler):
    """Until everything was written once."""
    profiler.wait(lambda m: m.get("assay_cluster_rounds_total", 0) >= 1, 300)
    profiler.wait(lambda m: m["assay_cluster_annotations_waiting"] == 0, 300)
    written = {(kind, name) for _, kind, name, _ in api.patches}
    if len(written) < NODES + PODS + JOBS:
        raise RuntimeError(f"only {len(written)} objects were ever written: the stand-ins miss a question")


def measure_steady(api, prometheus, profiler):
    """All is written once, as fast as may be; then a few things change in each round."""
    wait_for_all(api, profiler)
    for _ in range(WARM_ROUNDS):
        prometheus.move(CHANGING)
        next_round(profiler)
    rounds, begin, cpu, requests = [], time.monotonic(), profiler.cpu_seconds(), api.requests
    for _ in range(STEADY_ROUNDS):
        prometheus.move(CHANGING)
        rounds.append(next_round(profiler))
    took = time.monotonic() - begin
    return {"cores": (profiler.cpu_seconds() - cpu) / took, "memory": profiler.memory(),
            "rounds": [m["assay_cluster_round_seconds"] for m in rounds], "seconds": took,
            "requests": (api.requests - requests) / took, "waiting": max(m["assay_cluster_annotations_waiting"] for m in rounds),
            "patches": sum(1 for when, *_ in api.patches if when >= begin) / STEADY_ROUNDS}


def measure_order(api, prometheus, profiler):
    """Every pod changes at once: of those written first, which share is among those that changed most?"""
    begin = len(api.patches)
    factors = prometheus.move_all()
    profiler.wait(lambda m: len(api.patches) > begin + PODS / 2, 3 * INTERVAL)
    profiler.wait(lambda m: m["assay_cluster_annotations_waiting"] == 0, 3 * INTERVAL)
    first = round(PODS * FIRST)
    written = list(dict.fromkeys(name for _, kind, name, _ in api.patches[begin:] if kind == "pods"))[:first]
    most = set(sorted(factors, key=factors.get, reverse=True)[:first])
    return {"first_are_most": len(most & set(written)) / first, "written": len(written)}


def measure_restart(api, profiler):
    """Begins where the history has it, and everything is to be written again, no faster than is usual."""
    known, before, begin = len({(kind, name) for _, kind, name, _ in api.patches}), len(api.patches), time.monotonic()
    profiler.wait(lambda m: m.get("assay_cluster_annotations_waiting", 0) > 0, 300)
    first = time.monotonic() - begin
    profiler.wait(lambda m: m["assay_cluster_annotations_waiting"] + len(api.patches) - before >= .99 * known, 300)
    read_back, left = time.monotonic() - begin, max(0, begin + first + BURST_SECONDS - time.monotonic())
    time.sleep(left)
    writes = api.patches[before:]
    return {"first": first, "read_back": read_back, "objects": known, "memory": profiler.memory(),
            "per_second": len(writes) / (writes[-1][0] - writes[0][0]),
            "waiting": profiler.metrics()["assay_cluster_annotations_waiting"],
            "largest": max(size for *_, size in api.patches)}


def measure_little(bench):
    with cluster(bench) as (api, prometheus, start), start(FAST) as profiler:
        return measure_steady(api, prometheus, profiler)


def measure_all(bench):
    with cluster(bench) as (api, prometheus, start):
        with start(FAST) as profiler:
            wait_for_all(api, profiler)
            found = measure_order(api, prometheus, profiler)
        with start(USUAL) as profiler:
            return found | measure_restart(api, profiler)


def run(bench):
    found = bench.once("steady", lambda: measure_little(bench))
    bench.row("processor, of one core", f"{found['cores']:.3f}", f"over {found['seconds']:.0f} s",
              f"at most {CORES}", found["cores"] <= CORES)
    bench.row("resident memory, at most", f"{found['memory'] / 1e6:.0f} MB", "", f"at most {MEMORY / 1e6:.0f} MB",
              found["memory"] <= MEMORY)
    bench.row("longest round, without writing", f"{max(found['rounds']):.1f} s",
              f"{found['patches']:.0f} objects written a round, {found['waiting']:.0f} left",
              f"at most {INTERVAL} s, none left", max(found["rounds"]) <= INTERVAL and found["waiting"] == 0)
    bench.row("requests to the API server, when 0.5 % of all change a round", f"{found['requests']:.2f} a second", "",
              f"under {REQUESTS}", found["requests"] < REQUESTS)
    burst = bench.once("burst", lambda: measure_all(bench))
    bench.row("every pod changed: of the first tenth written, those of the tenth that changed most",
              f"{100 * burst['first_are_most']:.0f} %", f"{burst['written']} pods", "at least 90 %",
              burst["first_are_most"] >= .9)
    bench.row("after a restart: first writes after", f"{burst['first']:.0f} s",
              f"all {burst['objects']} read back after {burst['read_back']:.0f} s", f"at most {INTERVAL} s",
              burst["first"] <= INTERVAL)
    bench.row("after a restart: resident memory, at most", f"{burst['memory'] / 1e6:.0f} MB", "",
              f"at most {MEMORY / 1e6:.0f} MB", burst["memory"] <= MEMORY)
    bench.row("everything new: writes", f"{burst['per_second']:.1f} a second",
              f"{burst['waiting']:.0f} wait after {BURST_SECONDS} s; largest {burst['largest']} bytes", f"at most {USUAL}",
              burst["per_second"] <= 1.05 * USUAL)
