# SPDX-License-Identifier: Apache-2.0
"""Thumbnail scoring service: OpenCV decodes a picture, runs a network on the CPU, logs the result."""
import common

args = common.arguments(size=224, width=32)
import cv2
import numpy
import onnxfile

cv2.setNumThreads(common.CORES)
path = args.dir + "/net.onnx"
onnxfile.write(path, args.size, [args.width, args.width * 2, args.width * 4], seed=2)
net = cv2.dnn.readNetFromONNX(path)
log = open(args.dir + "/log.txt", "a")


def answer(body):
    pixels = numpy.resize(numpy.frombuffer(body, numpy.uint8), 480 * 640 * 3).reshape(480, 640, 3)
    coded = cv2.imencode(".jpg", pixels)[1]
    image = cv2.GaussianBlur(cv2.imdecode(coded, cv2.IMREAD_COLOR), (9, 9), 0)
    net.setInput(cv2.dnn.blobFromImage(image, 1 / 255, (args.size, args.size), swapRB=True))
    scores = net.forward().ravel()
    print(int(scores.argmax()), float(scores.max()), file=log, flush=True)
    return repr(scores.tolist()).encode()


answer(b"warm up")
common.serve(args.port, answer, common.Clock(args.seconds))
