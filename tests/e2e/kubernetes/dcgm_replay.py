#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers as NVIDIA's DCGM exporter does, with what jobs on a real GPU used when they were recorded (tests/recordings/jobs).

    dcgm_replay.py --hostname NODE [--gpus 2] [--divided GPU=PROFILE,PROFILE]...
        [--job GPU=NAMESPACE/POD/CONTAINER=FILE.csv]... [--listen 0.0.0.0:9400]

Each job begins when it is given and starts anew at its end; `PUT /jobs` with a list of such words replaces them. Only what
was recorded is told; a GPU without a job is idle and has no labels of a pod. Of a GPU that is divided each instance is told, by
its engine and not by its utilization; a job there has the first one. Needs Python alone, so that it runs in a pod.
"""
import argparse
import csv
import http.server
import json
import threading
import time
import uuid

MIB = 1 << 20
FAMILIES = (("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %)."),
            ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active."),
            ("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB)."),
            ("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB)."))
RESERVED_MIB = 1  # what a driver keeps of an idle GPU's memory


class Recording:
    """A table of `time` in seconds, `gpu_utilization_ratio` and `gpu_memory_bytes`; an empty cell was not measured."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            rows = list(csv.DictReader(file))
        self.times = [float(row["time"]) for row in rows]
        self.values = [(self._number(row["gpu_utilization_ratio"]), self._number(row["gpu_memory_bytes"])) for row in rows]

    @staticmethod
    def _number(cell):
        return float(cell) if cell else None

    def at(self, seconds):
        """Share of time and bytes; from the beginning again after the end."""
        seconds %= self.times[-1]
        return next(value for time, value in zip(self.times, self.values) if time > seconds)


class Job:
    def __init__(self, words, now):
        gpu, owner, path = words.split("=", 2)
        self.gpu, self.start, self.recording = int(gpu), now, Recording(path)
        self.namespace, self.pod, self.container = owner.split("/")


class Gpus:
    """All GPUs of one node. `jobs` are words GPU=NAMESPACE/POD/CONTAINER=FILE.csv, `divided` has the profiles of the
    instances by GPU."""

    def __init__(self, hostname, count, jobs=(), *, divided=None, model="NVIDIA H200", memory_mib=143771, driver="550.90.07",
                 clock=time.monotonic):
        self.hostname, self.count, self.model, self.memory_mib, self.driver = hostname, count, model, memory_mib, driver
        self.divided = divided or {}
        self._clock, self._lock = clock, threading.Lock()
        self.replace(jobs)

    def replace(self, jobs):
        made = {job.gpu: job for job in (Job(words, self._clock()) for words in jobs)}
        with self._lock:
            self._jobs = made

    def _labels(self, gpu, job, part=None):
        labels = {"gpu": gpu, "UUID": f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{gpu}.{self.hostname}')}",
                  "device": f"nvidia{gpu}", "modelName": self.model, "Hostname": self.hostname,
                  "DCGM_FI_DRIVER_VERSION": self.driver}
        if part is not None:
            labels.update(GPU_I_ID=part + 1, GPU_I_PROFILE=self.divided[gpu][part])
        if job:
            labels.update(container=job.container, namespace=job.namespace, pod=job.pod)
        return ",".join(f'{name}="{value}"' for name, value in labels.items())

    def _values(self, job, memory_mib, whole=True):
        """By family; what was not measured is not there."""
        share, used = job.recording.at(self._clock() - job.start) if job else (0.0, 0.0)
        values = {}
        if share is not None:
            values.update({"DCGM_FI_DEV_GPU_UTIL": round(share * 100)} if whole else
                          {"DCGM_FI_PROF_GR_ENGINE_ACTIVE": share})
        if used is not None:
            values["DCGM_FI_DEV_FB_USED"] = round(used / MIB) + RESERVED_MIB
            values["DCGM_FI_DEV_FB_FREE"] = memory_mib - values["DCGM_FI_DEV_FB_USED"]
        return values

    def _told(self, gpu, job):
        """Labels and values of a GPU, or of each of its instances."""
        parts = self.divided.get(gpu)
        if not parts:
            return [(self._labels(gpu, job), self._values(job, self.memory_mib))]
        jobs = [job] + [None] * (len(parts) - 1)
        return [(self._labels(gpu, of, part), self._values(of, self.memory_mib // len(parts), whole=False))
                for part, of in enumerate(jobs)]

    def text(self):
        with self._lock:
            jobs = dict(self._jobs)
        known = [told for gpu in range(self.count) for told in self._told(gpu, jobs.get(gpu))]
        lines = []
        for name, help_text in FAMILIES:
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} gauge"]
            lines += [f"{name}{{{labels}}} {values[name]}" for labels, values in known if name in values]
        return "\n".join(lines) + "\n"


def serve(gpus, address):
    """A server that is not yet running; `serve_forever` runs it."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self, status, text):
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self._answer(*((200, gpus.text()) if self.path == "/metrics" else (404, "see /metrics\n")))

        def do_PUT(self):
            words = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                gpus.replace(json.loads(words))
            except (ValueError, OSError, KeyError) as error:
                return self._answer(422, f"{error}\n")
            return self._answer(200, "ok\n")

        def log_message(self, *_):
            pass

    host, port = address.rsplit(":", 1)
    return http.server.ThreadingHTTPServer((host, int(port)), Handler)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hostname", required=True)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--divided", action="append", default=[])
    parser.add_argument("--job", action="append", default=[])
    parser.add_argument("--model", default="NVIDIA H200")
    parser.add_argument("--memory-mib", type=int, default=143771)
    parser.add_argument("--listen", default="0.0.0.0:9400")
    options = parser.parse_args()
    divided = {int(gpu): profiles.split(",") for gpu, profiles in (words.split("=", 1) for words in options.divided)}
    gpus = Gpus(options.hostname, options.gpus, options.job, divided=divided, model=options.model, memory_mib=options.memory_mib)
    serve(gpus, options.listen).serve_forever()


if __name__ == "__main__":
    main()
