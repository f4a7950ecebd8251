# SPDX-License-Identifier: Apache-2.0
"""Stands in for Python's onnxruntime, which Debian 12 does not have: a model of one input and one output, and the events of a
profile as ONNX Runtime wrote them for two operators of a SqueezeNet, the first inference the longest."""
import json
import types

import numpy

__version__ = "stand-in"
EVENTS = [("Session", "model_loading_uri", 1893), ("Session", "session_initialization", 14606)] + [
    event for first, second, run in ((108, 10, 789), (14, 5, 439), (10, 4, 337))
    for event in (("Node", "Relu_1_nchwc_kernel_time", first), ("Node", "MaxPool_2_nchwc_kernel_time", second),
                  ("Session", "model_run", run))]


def get_available_providers():
    return ["CPUExecutionProvider"]


class SessionOptions:
    enable_profiling, profile_file_prefix = False, ""
    intra_op_num_threads, inter_op_num_threads, log_severity_level = 0, 0, 2


class InferenceSession:
    def __init__(self, file, options, providers):
        with open(file, encoding="utf-8") as model:
            if model.read() != "a model":
                raise RuntimeError("[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Protobuf parsing failed.")
        self.options, self.providers = options, providers
        print("what a library prints is no answer")

    def get_providers(self):
        return self.providers

    def get_inputs(self):
        return [types.SimpleNamespace(name="image", type="tensor(float)", shape=["batch", 2])]

    def get_outputs(self):
        return [types.SimpleNamespace(name="sum", type="tensor(float)", shape=["batch"])]

    def run(self, _, feeds):
        return [numpy.sum(feeds["image"], axis=1)]

    def end_profiling(self):
        with open(self.options.profile_file_prefix + ".json", "w", encoding="utf-8") as file:
            json.dump([{"cat": kind, "name": name, "dur": took} for kind, name, took in EVENTS], file)
        return file.name
