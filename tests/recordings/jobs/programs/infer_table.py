# SPDX-License-Identifier: Apache-2.0
"""Nightly scoring: boosted trees learned once at the start score the rows of a table, chunk by chunk."""
import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(22)
    text = "\n".join(",".join("%.4f" % v for v in row) for row in chance.standard_normal((20000, 20)).tolist()) + "\n"
    with open(folder + "/rows.csv", "w") as file:
        for _ in range(12):
            file.write(text)


args = common.arguments(trees=150, chunk=4000)
data = common.prepared(args, make)
import cv2

cv2.setNumThreads(1)
chance = numpy.random.default_rng(2)
x = chance.standard_normal((1500, 20)).astype(numpy.float32)
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(numpy.int32)
model = cv2.ml.RTrees_create()
model.setMaxDepth(10)
model.setTermCriteria((cv2.TERM_CRITERIA_MAX_ITER, args.trees, 0))
model.train(x, cv2.ml.ROW_SAMPLE, y)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(data + "/rows.csv") as file, open(args.dir + "/scores%d.csv" % (turn % 3), "w", buffering=1) as out:
        while clock.running():
            lines = file.readlines(args.chunk * 150)
            if not lines:
                break
            rows = numpy.array([[float(v) for v in line.split(",")] for line in lines], numpy.float32)
            votes = model.predict(rows)[1].ravel()
            out.write("\n".join("%d" % v for v in votes.tolist()) + "\n")
    turn += 1
