# SPDX-License-Identifier: Apache-2.0
"""Cuts sensor tables into windows for training: parses, fills gaps, smooths, normalizes, saves arrays."""
import glob

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(45)
    for i in range(common.few(20)):
        rows = chance.standard_normal((40000, 8)).cumsum(0)
        with open(folder + "/%02d.csv" % i, "w") as file:
            file.writelines(",".join("" if k % 97 == c else "%.4f" % v for c, v in enumerate(row)) + "\n"
                            for k, row in enumerate(rows.tolist()))


args = common.arguments(length=256, stride=64)
data, out = common.prepared(args, make), common.output(args)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    for number, name in enumerate(sorted(glob.glob(data + "/*.csv"))):
        table = numpy.genfromtxt(name, delimiter=",")
        for column in table.T:
            hole = numpy.isnan(column)
            column[hole] = numpy.interp(numpy.flatnonzero(hole), numpy.flatnonzero(~hole), column[~hole])
            column[:] = numpy.convolve(column, numpy.ones(5) / 5, "same")
        windows = numpy.array([table[at:at + args.length] for at in range(0, len(table) - args.length, args.stride)])
        windows = (windows - windows.mean(1, keepdims=True)) / (windows.std(1, keepdims=True) + 1e-6)
        numpy.save("%s/%02d.npy" % (out, number), windows.astype(numpy.float32))
        if not clock.running():
            break
    turn += 1
