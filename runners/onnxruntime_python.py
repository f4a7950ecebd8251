#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as an engine of Assay, by Python's onnxruntime; docs/engines.md has the lines that it speaks."""
import json
import os
import statistics
import sys
import tempfile
import time

import numpy
import onnxruntime

TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
         "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(int8)": "int8", "tensor(bool)": "bool"}
GPU = "CUDAExecutionProvider"


def described(tensors):
    return [{"name": t.name, "type": TYPES.get(t.type, t.type), "shape": list(t.shape)} for t in tensors]


class Runner:
    def __init__(self):
        self.session, self.inputs, self.loaded = None, [], {}

    def session_of(self, request, profile=None):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if request.get("threads"):
            options.intra_op_num_threads, options.inter_op_num_threads = request["threads"], 1
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        if not request.get("gpu"):
            return onnxruntime.InferenceSession(request["file"], options, providers=["CPUExecutionProvider"])
        session = None
        if GPU in onnxruntime.get_available_providers():
            session = onnxruntime.InferenceSession(request["file"], options, providers=[GPU, "CPUExecutionProvider"])
        if session is None or GPU not in session.get_providers():
            raise RuntimeError(f"this onnxruntime cannot use a GPU: it has no {GPU}")
        return session

    def load(self, request):
        begin = time.perf_counter()
        self.session, self.loaded = self.session_of(request), request
        took = time.perf_counter() - begin
        shapes = request.get("shapes") or {}
        self.inputs = described(self.session.get_inputs())
        for each in self.inputs:
            each["shape"] = shapes.get(each["name"]) or [n if isinstance(n, int) and n >= 0 else 1 for n in each["shape"]]
        return {"seconds": took, "inputs": self.inputs, "outputs": described(self.session.get_outputs()),
                "gpu": GPU in self.session.get_providers()}

    def made(self, seed, file):
        random = numpy.random.RandomState(seed % 2**32)
        feeds = {}
        for index, each in enumerate(self.inputs):
            kind, shape = numpy.dtype(each["type"]), each["shape"]
            if file and index == 0:
                feeds[each["name"]] = numpy.fromfile(file, numpy.float32).reshape(shape)
            elif kind.kind in "iu":
                feeds[each["name"]] = numpy.asarray(random.randint(0, 100, shape)).astype(kind)
            elif kind.kind == "b":
                feeds[each["name"]] = numpy.asarray(random.rand(*shape) < 0.5)
            else:
                feeds[each["name"]] = numpy.asarray(random.rand(*shape)).astype(kind)
        return feeds

    def run(self, request):
        if self.session is None:
            raise ValueError("nothing is loaded")
        feeds = self.made(request.get("seed", 1), request.get("input"))
        times, end = [], time.perf_counter() + request["seconds"]
        while not times or (len(times) < request["count"] and time.perf_counter() < end):
            begin = time.perf_counter()
            results = self.session.run(None, feeds)
            times.append(time.perf_counter() - begin)
        if request.get("output"):
            with open(request["output"], "wb") as file:
                for result in results:
                    file.write(numpy.asarray(result, numpy.float32).tobytes())
        return {"times": times}

    def profile(self, request):
        """What each operator takes, by ONNX Runtime's own profile: a file of events, of which those of kernels are wanted."""
        if self.session is None:
            raise ValueError("nothing is loaded")
        feeds = self.made(request.get("seed", 1), request.get("input"))
        with tempfile.TemporaryDirectory(prefix="assay-profile-") as folder:
            session = self.session_of(self.loaded, os.path.join(folder, "of"))
            session.run(None, feeds)
            times, end = [], time.perf_counter() + request["seconds"]
            while not times or (len(times) < request["count"] and time.perf_counter() < end):
                begin = time.perf_counter()
                session.run(None, feeds)
                times.append(time.perf_counter() - begin)
            with open(session.end_profiling(), encoding="utf-8") as file:
                events = json.load(file)
        took, ending = {}, "_kernel_time"
        for event in events:
            if event.get("cat") == "Node" and event["name"].endswith(ending):
                took.setdefault(event["name"][:-len(ending)], []).append(event["dur"] / 1e6)
        # The first inference warms up, and is left out; what a loop runs several times counts as often.
        operators = []
        for name, each in took.items():
            often = max(1, round(len(each) / (len(times) + 1)))
            operators.append({"name": name, "seconds": often * statistics.median(each[often:] or [0])})
        return {"operators": operators, "times": times}


def main():
    # Whatever the library prints goes elsewhere: the output is for answers alone.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    runner = Runner()
    print(json.dumps({"engine": "onnxruntime", "version": onnxruntime.__version__}), file=answers)
    for line in sys.stdin:
        try:
            request = json.loads(line)
            do = {"load": runner.load, "run": runner.run, "profile": runner.profile}[request["do"]]
            print(json.dumps(do(request)), file=answers)
        except Exception as error:  # pylint: disable=broad-except
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers)


if __name__ == "__main__":
    main()
