# SPDX-License-Identifier: Apache-2.0
"""Sorts and joins two big CSV files with the system's sort, join and awk."""
import random
import subprocess

import common


def make(folder):
    chance = random.Random(4)
    for name, rows in (("orders", 900000), ("people", 300000)):
        with open("%s/%s.csv" % (folder, name), "w") as file:
            file.writelines("%07d,%s%d,%d\n" % (chance.randrange(300000), name, i, chance.randrange(10 ** 6))
                            for i in range(rows))


args = common.arguments()
data, out = common.prepared(args, make), common.output(args)
STEPS = ["sort -t, -k1,1 -S 20M -T {o} --parallel=2 {d}/orders.csv > {o}/orders.csv",
         "sort -t, -k1,1 -S 20M -T {o} --parallel=2 {d}/people.csv > {o}/people.csv",
         "join -t, {o}/orders.csv {o}/people.csv > {o}/joined.csv",
         "awk -F, '{{s[$1]+=$3; n[$1]++}} END{{for(k in s) print k \",\" s[k]/n[k]}}' {o}/joined.csv > {o}/means.csv",
         "sort -t, -k2,2gr -S 20M -T {o} {o}/means.csv | head -100000 > {o}/top.csv",
         "shuf {o}/joined.csv | split -l 200000 - {o}/part."]
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for step in STEPS:
        if clock.running():
            subprocess.run(["timeout", "%.1f" % (clock.left() + 1), "bash", "-c", "export LC_ALL=C; " + step.format(d=data, o=out)])
