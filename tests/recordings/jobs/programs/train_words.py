# SPDX-License-Identifier: Apache-2.0
"""Learns word vectors (skip-gram with negative samples) from text files, round after round."""
import glob

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(32)
    words = ["".join(chance.choice(list("abcdefghijklmnop"), 6)) for _ in range(3000)]
    for i in range(common.few(40)):
        with open(folder + "/%02d.txt" % i, "w") as file:
            for _ in range(300):
                file.write(" ".join(words[k % 3000] for k in chance.zipf(1.2, 200).tolist()) + "\n")


args = common.arguments(width=100, negatives=5, rate=0.03)
data = common.prepared(args, make)
chance, numbers = numpy.random.default_rng(5), {}
inside = chance.normal(0, 0.1, (20000, args.width)).astype(numpy.float32)
outside = numpy.zeros((20000, args.width), numpy.float32)


def learn(words):
    for shift in (1, 2, 3):
        center, near = words[shift:], words[:-shift]
        others = chance.integers(0, max(2, len(numbers)), (len(center), args.negatives))
        target = numpy.hstack([near[:, None], others])
        wanted = numpy.zeros(target.shape, numpy.float32)
        wanted[:, 0] = 1
        score = 1 / (1 + numpy.exp(-numpy.einsum("ij,ikj->ik", inside[center], outside[target])))
        slope = args.rate * (wanted - score)
        step = numpy.einsum("ik,ikj->ij", slope, outside[target])
        numpy.add.at(outside, target, slope[:, :, None] * inside[center][:, None, :])
        numpy.add.at(inside, center, step)


clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.txt")):
        for line in open(name):
            learn(numpy.array([numbers.setdefault(word, len(numbers)) for word in line.split()]))
        if not clock.running():
            break
    turn += 1
    numpy.save(args.dir + "/vectors.npy", inside[:len(numbers)])
