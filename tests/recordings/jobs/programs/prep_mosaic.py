# SPDX-License-Identifier: Apache-2.0
"""Turns overlapping aerial pictures into map tiles: warps them, blends them, cuts tiles in three sizes."""
import glob

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(46)
    for i in range(common.few(40)):
        small = chance.integers(0, 255, (90, 120, 3), dtype=numpy.uint8)
        cv2.imwrite(folder + "/%02d.jpg" % i, cv2.resize(small, (1600, 1200), interpolation=cv2.INTER_CUBIC))


args = common.arguments(tile=256)
data, out = common.prepared(args, make), common.output(args)
cv2.setNumThreads(common.CORES)
chance = numpy.random.default_rng(13)
clock, names = common.Clock(args.seconds), sorted(glob.glob(data + "/*.jpg"))
while clock.running():
    common.cold(data)
    for first in range(0, len(names), 4):
        canvas, weight = numpy.zeros((2048, 2048, 3), numpy.float32), numpy.full((2048, 2048, 1), 1e-3, numpy.float32)
        for k, name in enumerate(names[first:first + 4]):
            corner = numpy.float32([[0, 0], [1600, 0], [1600, 1200], [0, 1200]])
            where = corner + chance.normal(0, 20, (4, 2)) + [k % 2 * 420, k // 2 * 800]
            matrix = cv2.getPerspectiveTransform(corner, where.astype(numpy.float32))
            canvas += cv2.warpPerspective(cv2.imread(name), matrix, (2048, 2048)).astype(numpy.float32)
            weight[:, :, 0] += cv2.warpPerspective(numpy.ones((1200, 1600), numpy.float32), matrix, (2048, 2048))
        mosaic = (canvas / weight).clip(0, 255).astype(numpy.uint8)
        for level in range(3):
            for y in range(0, mosaic.shape[0], args.tile):
                for x in range(0, mosaic.shape[1], args.tile):
                    cv2.imwrite("%s/%02d-%d-%d-%d.png" % (out, first, level, y, x), mosaic[y:y + args.tile, x:x + args.tile])
            mosaic = cv2.pyrDown(mosaic)
        if not clock.running():
            break
