# SPDX-License-Identifier: Apache-2.0
"""Looks up pictures that resemble others: features of each by a fixed network, the nearest of an index in memory."""
import glob
import json

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(30)
    for i in range(common.few(500)):
        small = chance.integers(0, 255, (30, 40, 3), dtype=numpy.uint8)
        cv2.imwrite(folder + "/%03d.jpg" % i, cv2.resize(small, (640, 480), interpolation=cv2.INTER_CUBIC))


args = common.arguments(index=60000, size=160, width=12, near=10)
data = common.prepared(args, make)
import onnxfile

cv2.setNumThreads(common.CORES)
onnxfile.write(args.dir + "/net.onnx", args.size, [args.width, args.width * 2, args.width * 4], seed=5)
net = cv2.dnn.readNetFromONNX(args.dir + "/net.onnx")
net.setInput(cv2.dnn.blobFromImage(numpy.zeros((args.size, args.size, 3), numpy.uint8), 1 / 255))
wide = net.forward().size
index = numpy.random.default_rng(12).standard_normal((args.index, wide)).astype(numpy.float32)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/near%d.jsonl" % (turn % 3), "w") as out:
        for name in sorted(glob.glob(data + "/*.jpg")):
            net.setInput(cv2.dnn.blobFromImage(cv2.imread(name), 1 / 255, (args.size, args.size)))
            far = ((index - net.forward().ravel()) ** 2).sum(1)
            near = numpy.argpartition(far, args.near)[:args.near]
            out.write(json.dumps({"file": name[-7:], "near": near.tolist(), "far": far[near].round(3).tolist()}) + "\n")
            if not clock.running():
                break
    turn += 1
