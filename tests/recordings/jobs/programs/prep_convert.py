# SPDX-License-Identifier: Apache-2.0
"""Runs a C++ converter (built at the set-up) over text tables: parse, sort, scale, write binary columns."""
import os
import random
import subprocess

import common


def make(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["g++", "-std=c++17", "-O2", "-o", folder + "/convert", here + "/prep_convert.cpp"], check=True)
    chance = random.Random(14)
    rows = ["%.4f,%d,%.2f,%d,%.3f,%.1f\n" % (chance.random(), chance.randrange(9999), chance.gauss(0, 50),
                                             chance.randrange(5), chance.random() * 7, chance.random()) for _ in range(100000)]
    for part in range(4):
        with open("%s/%d.csv" % (folder, part), "w") as file:
            for _ in range(8):
                chance.shuffle(rows)
                file.write("".join(rows))


args = common.arguments(parallel=1)
data, out = common.prepared(args, make), common.output(args)
clock, part = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    started = []
    for _ in range(args.parallel):
        started.append(subprocess.Popen([data + "/convert", "%s/%d.csv" % (data, part % 4), "%s/%d.bin" % (out, part % 8),
                                         "%.1f" % (clock.left() + 0.5)], stdout=subprocess.DEVNULL))
        part += 1
    for process in started:
        assert process.wait() in (0, 4)
