# SPDX-License-Identifier: Apache-2.0
"""Looks for odd lines in packed logs: a network scores every line, and only the odd ones are written down."""
import glob
import gzip
import zlib

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(27)
    for i in range(common.few(30)):
        with gzip.open(folder + "/%02d.log.gz" % i, "wt", compresslevel=1) as file:
            for k, (host, code, size) in enumerate(chance.integers(0, 100000, (60000, 3)).tolist()):
                file.write("%d host%d GET /item/%d status %d bytes %d\n" % (1700000000 + k, host % 200, size, code % 7, size))


args = common.arguments(buckets=4096, hidden=128)
data = common.prepared(args, make)
chance = numpy.random.default_rng(9)
first = chance.normal(0, 0.2, (args.buckets, args.hidden)).astype(numpy.float32)
second = chance.normal(0, 0.2, (args.hidden, 32)).astype(numpy.float32)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/odd%d.txt" % (turn % 3), "w") as out:
        for name in sorted(glob.glob(data + "/*.gz")):
            with gzip.open(name, "rt") as file:
                while clock.running():
                    lines = file.readlines(1 << 16)
                    if not lines:
                        break
                    places = numpy.array([[zlib.crc32(word.encode()) % args.buckets for word in line.split()]
                                          for line in lines])
                    scores = numpy.tanh(numpy.tanh(first[places].sum(1)) @ second).mean(1)
                    out.writelines(line for line, score in zip(lines, scores) if score > 0.35)
    turn += 1
