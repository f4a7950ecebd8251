#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models with OpenCV's dnn, and looks whether what comes out is alive.

    run_opencv.py FILE:SHAPE...       e.g. resnet18.onnx:1x3x64x64

Prints a line per model; ends with 1 when one of them does not run, or gives the same for other input.
Leaves FILE.input and FILE.answer beside each, for run_onnxruntime.mjs to compare with.
"""
import sys

import cv2
import numpy


def random_input(shape, seed):
    return numpy.random.default_rng(seed).standard_normal(shape, dtype=numpy.float32)


def answer(net, shape, seed):
    net.setInput(random_input(shape, seed))
    return net.forward().copy()


def trouble(path, shape):
    try:
        net = cv2.dnn.readNetFromONNX(path)
        first, second = answer(net, shape, 1), answer(net, shape, 2)
    except cv2.error as error:
        return "OpenCV refuses it: " + " ".join(str(error).split())
    random_input(shape, 1).tofile(path + ".input")
    first.tofile(path + ".answer")
    if not numpy.isfinite(first).all():
        return "gives numbers that are not finite"
    if first.std() < 1e-4 * abs(first).max():
        return "gives the same number everywhere"
    if abs(first - second).max() < 1e-4 * abs(first).max():
        return "gives the same for other input"
    return ""


def main(arguments):
    wrong = 0
    for argument in arguments:
        path, shape = argument.rsplit(":", 1)
        why = trouble(path, [int(size) for size in shape.split("x")])
        print(f"{path}: {why or 'runs'}", flush=True)
        wrong += bool(why)
    return 1 if wrong or not arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
