# SPDX-License-Identifier: Apache-2.0
"""Reads numbers from scanned pages: cuts out the digits, a nearest-neighbour model names them, text is written."""
import glob

import common
import cv2
import numpy


def digit(chance, value):
    cell = numpy.full((32, 24), 255, numpy.uint8)
    cv2.putText(cell, str(value), (2, 26), int(chance.integers(0, 5)), 0.8, 0, int(chance.integers(1, 3)))
    return cell


def make(folder):
    chance = numpy.random.default_rng(28)
    for i in range(common.few(50)):
        rows = [numpy.hstack([digit(chance, v) for v in chance.integers(0, 10, 50).tolist()]) for _ in range(50)]
        page = numpy.vstack(rows).astype(int) + chance.normal(0, 6, (1600, 1200)).astype(int)
        cv2.imwrite(folder + "/%02d.png" % i, page.clip(0, 255).astype(numpy.uint8))


args = common.arguments(examples=4000, near=5)
data = common.prepared(args, make)
cv2.setNumThreads(common.CORES)
chance = numpy.random.default_rng(10)
labels = chance.integers(0, 10, args.examples)
cells = numpy.array([digit(chance, int(v))[::2, ::2].ravel() for v in labels], numpy.float32)
model = cv2.ml.KNearest_create()
model.train(cells, cv2.ml.ROW_SAMPLE, labels.astype(numpy.int32))
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for number, name in enumerate(sorted(glob.glob(data + "/*.png"))):
        page = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
        cut = page.reshape(50, 32, 50, 24).transpose(0, 2, 1, 3)[:, :, ::2, ::2].reshape(2500, -1)
        found = model.findNearest(cut.astype(numpy.float32), args.near)[1].astype(int).reshape(50, 50)
        with open(args.dir + "/%02d.txt" % number, "w") as out:
            out.writelines("".join(map(str, row)) + "\n" for row in found)
        if not clock.running():
            break
    turn += 1
