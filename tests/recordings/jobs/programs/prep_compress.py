# SPDX-License-Identifier: Apache-2.0
"""Packs log files with gzip or xz and checks them by unpacking again."""
import glob
import gzip
import hashlib
import lzma
import os
import random

import common


def make(folder):
    chance = random.Random(3)
    words = ["request", "error", "user", "cache", "GET", "index.html", "200", "timeout"]
    for part in range(8):
        lines = ["%d %s %s %d\n" % (chance.randrange(10 ** 9), chance.choice(words), chance.choice(words),
                                    chance.randrange(5000)) for _ in range(40000)]
        with open(folder + "/log%d.txt" % part, "w") as file:
            for _ in range(8):
                chance.shuffle(lines)
                file.write("".join(lines))


args = common.arguments(method="gzip", level=6, block=1 << 20)
data, out = common.prepared(args, make), common.output(args)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.txt")):
        packed = os.path.join(out, os.path.basename(name) + "." + args.method)
        target = gzip.open(packed, "wb", args.level) if args.method == "gzip" else lzma.open(packed, "wb", preset=args.level)
        before, after = hashlib.sha256(), hashlib.sha256()
        with open(name, "rb") as file, target:
            while clock.running() and (block := file.read(args.block)):
                before.update(block)
                target.write(block)
        with (gzip.open if args.method == "gzip" else lzma.open)(packed, "rb") as file:
            while block := file.read(args.block):
                after.update(block)
        assert before.digest() == after.digest()
        if not clock.running():
            break
