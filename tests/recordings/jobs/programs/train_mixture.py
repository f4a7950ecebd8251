# SPDX-License-Identifier: Apache-2.0
"""Fits Gaussian mixtures (expectation maximization) to patches of pictures, one more picture at every round."""
import glob

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(36)
    for i in range(common.few(80)):
        small = chance.integers(0, 255, (24, 32, 3), dtype=numpy.uint8)
        cv2.imwrite(folder + "/%03d.png" % i, cv2.resize(small, (640, 480), interpolation=cv2.INTER_CUBIC))


args = common.arguments(clusters=12, patches=3000)
data = common.prepared(args, make)
cv2.setNumThreads(common.CORES)
chance = numpy.random.default_rng(8)
patches, turn, clock = [], 0, common.Clock(args.seconds)
names = sorted(glob.glob(data + "/*.png"))
while clock.running():
    picture = cv2.imread(names[turn % len(names)], cv2.IMREAD_GRAYSCALE).astype(numpy.float32) / 255
    corners = zip(chance.integers(0, 472, args.patches), chance.integers(0, 632, args.patches))
    patches = patches[-9:] + [numpy.array([picture[y:y + 8:2, x:x + 8:2].ravel() for y, x in corners])]
    model = cv2.ml.EM_create()
    model.setClustersNumber(args.clusters)
    model.setTermCriteria((cv2.TERM_CRITERIA_MAX_ITER, 15, 1e-6))
    good, likely, *_ = model.trainEM(numpy.vstack(patches))
    turn += 1
    print(turn, float(likely.mean()), flush=True)
    if turn % 5 == 0:
        model.save(args.dir + "/mixture.xml")
