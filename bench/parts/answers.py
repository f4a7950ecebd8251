# SPDX-License-Identifier: Apache-2.0
"""How long callers wait for a placement over 100 devices, at 1,000 requests a second."""
import json
import os
import re
import subprocess

TITLE = "answering"
DEVICES, PER_SECOND, SECONDS, ROUNDS = 100, 1000, 10, 3
CALL = {"model": "resnet", "conv_layers": 53, "pool_layers": 2, "fc_layers": 1, "filter_details": 26560,
        "total_parameters": 25557032, "model_input_size": 602112, "model_output_size": 4000}


class Service:
    """`assay serve` on one core, with nothing else."""

    def __init__(self, bench, learned):
        self.folder = bench.work / "service"
        self.folder.mkdir(exist_ok=True)
        cores = sorted(os.sched_getaffinity(0))
        self.client_cores = ",".join(map(str, cores[1:] or cores))
        self.process = subprocess.Popen(
            ["taskset", "-c", str(cores[0]), bench.assay, "serve", "--listen", "127.0.0.1:0", "--old-routes",
             "127.0.0.1:0", "--old-rate", "1000000", "--learned", str(learned), "--store",
             str(self.folder / "history.db")], stderr=subprocess.PIPE, text=True)
        self.ports = []
        while len(self.ports) < 2:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError("the service did not start")
            self.ports += [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", line)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def token(self):
        return (self.folder / "token").read_text(encoding="utf-8").strip()


def ask(bench, service, port, path, body):
    file = bench.work / "call.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    words = ["taskset", "-c", service.client_cores, bench.bin / "answer_load", "ask", str(port), path, file,
             str(PER_SECOND), str(SECONDS), service.token()]
    return json.loads(bench.command(*words))


def run(bench):
    learned = bench.work / "placement.json"

    def measure():
        bench.command(bench.bin / "answer_load", "learn", learned, str(DEVICES))
        with Service(bench, learned) as service:
            old = [ask(bench, service, service.ports[1], "/api/profiling", CALL) for _ in range(ROUNDS)]
            new = [ask(bench, service, service.ports[0], "/api/v1/placements", {"models": [CALL]})
                   for _ in range(ROUNDS)]
        return {"/api/profiling": old, "/api/v1/placements": new}

    found = bench.once(f"{DEVICES} devices", measure)
    for path, rounds in found.items():
        p99 = [one["p99_ms"] for one in rounds]
        refused = sum(one["refused"] for one in rounds)
        beside = (f"{PER_SECOND}/s on one core, {ROUNDS} times {SECONDS} s; p50 {max(o['p50_ms'] for o in rounds):.2f} ms, "
                  f"longest {max(o['most_ms'] for o in rounds):.1f} ms, {refused} refused")
        bench.row(f"{path} over {DEVICES} devices, p99, worst round", f"{max(p99):.2f} ms", beside, "at most 2 ms",
                  max(p99) <= 2 and refused == 0)
