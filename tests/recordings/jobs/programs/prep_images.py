# SPDX-License-Identifier: Apache-2.0
"""Decodes a folder of JPEG photographs, crops, resizes and encodes them again, with worker processes."""
import glob
import multiprocessing
import os

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(1)
    for i in range(common.few(160)):
        small = chance.integers(0, 255, (27, 40, 3), dtype=numpy.uint8)
        photo = cv2.resize(small, (1600, 1080), interpolation=cv2.INTER_CUBIC)
        cv2.imwrite(folder + "/%04d.jpg" % i, photo)


def convert(job):
    name, size, folder = job
    image = cv2.imread(name)
    side = min(image.shape[:2])
    image = cv2.resize(image[:side, :side], (size, size), interpolation=cv2.INTER_AREA)
    image = cv2.cvtColor(cv2.GaussianBlur(image, (3, 3), 0), cv2.COLOR_BGR2RGB)
    return cv2.imwrite(os.path.join(folder, "%d-%s.png" % (size, os.path.basename(name)[:-4])), image)


if __name__ == "__main__":
    args = common.arguments(workers=2)
    data, out = common.prepared(args, make), common.output(args)
    cv2.setNumThreads(1)
    names, clock, turn = sorted(glob.glob(data + "/*.jpg")), common.Clock(args.seconds), 0
    with multiprocessing.get_context("fork").Pool(args.workers) as pool:
        while clock.running():
            common.cold(data)
            size = (256, 384, 512, 640)[turn % 4]
            for done in pool.imap_unordered(convert, [(n, size, out) for n in names], chunksize=4):
                if not clock.running():
                    break
            turn += 1
        pool.terminate()
