# SPDX-License-Identifier: Apache-2.0
"""Learns who likes what (matrix factors) from a table of ratings that is read in chunks, over and over."""
import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(33)
    rows = numpy.column_stack([chance.integers(0, 50000, 400000), chance.integers(0, 8000, 400000),
                               chance.integers(1, 6, 400000)])
    text = "\n".join("%d,%d,%d" % tuple(row) for row in rows.tolist()) + "\n"
    with open(folder + "/ratings.csv", "w") as file:
        for _ in range(common.few(20)):
            file.write(text)


args = common.arguments(factors=32, rate=0.02)
data = common.prepared(args, make)
chance = numpy.random.default_rng(6)
users = chance.normal(0, 0.1, (50000, args.factors)).astype(numpy.float32)
items = chance.normal(0, 0.1, (8000, args.factors)).astype(numpy.float32)
clock, epoch = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(data + "/ratings.csv") as file:
        while clock.running():
            lines = file.readlines(1 << 20)
            if not lines:
                break
            rows = numpy.array([line.split(",") for line in lines], dtype=int)
            for part in numpy.array_split(rows, 8):
                u, i = part[:, 0], part[:, 1]
                error = (part[:, 2] - 3 - (users[u] * items[i]).sum(1))[:, None].astype(numpy.float32)
                was = users[u].copy()
                numpy.add.at(users, u, args.rate * error * items[i])
                numpy.add.at(items, i, args.rate * error * was)
    epoch += 1
    numpy.savez(args.dir + "/factors.npz", users, items)
    print(epoch, float((error ** 2).mean()), flush=True)
