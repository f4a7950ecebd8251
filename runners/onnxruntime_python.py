#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as an engine of Assay, by Python's onnxruntime; docs/engines.md has the lines that it speaks."""
import json
import os
import sys
import time

import numpy
import onnxruntime

TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(int64)": "int64",
         "tensor(int32)": "int32", "tensor(uint8)": "uint8", "tensor(int8)": "int8", "tensor(bool)": "bool"}


def described(tensors):
    return [{"name": t.name, "type": TYPES.get(t.type, t.type), "shape": list(t.shape)} for t in tensors]


class Runner:
    def __init__(self):
        self.session, self.inputs = None, []

    def load(self, request):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if request.get("threads"):
            options.intra_op_num_threads, options.inter_op_num_threads = request["threads"], 1
        begin = time.perf_counter()
        self.session = onnxruntime.InferenceSession(request["file"], options, providers=["CPUExecutionProvider"])
        took = time.perf_counter() - begin
        shapes = request.get("shapes") or {}
        self.inputs = described(self.session.get_inputs())
        for each in self.inputs:
            each["shape"] = shapes.get(each["name"]) or [n if isinstance(n, int) and n >= 0 else 1 for n in each["shape"]]
        return {"seconds": took, "inputs": self.inputs, "outputs": described(self.session.get_outputs())}

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


def main():
    # Whatever the library prints goes elsewhere: the output is for answers alone.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    runner = Runner()
    print(json.dumps({"engine": "onnxruntime", "version": onnxruntime.__version__}), file=answers)
    for line in sys.stdin:
        try:
            request = json.loads(line)
            do = {"load": runner.load, "run": runner.run}[request["do"]]
            print(json.dumps(do(request)), file=answers)
        except Exception as error:  # pylint: disable=broad-except
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answers)


if __name__ == "__main__":
    main()
