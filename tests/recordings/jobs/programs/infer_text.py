# SPDX-License-Identifier: Apache-2.0
"""Offline scoring of text: a bag-of-words network reads articles from files and writes a label for each."""
import glob
import json
import zlib

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(21)
    words = ["".join(chance.choice(list("abcdefghijklmnop"), 7)) for _ in range(4000)]
    for i in range(common.few(60)):
        with open(folder + "/%03d.txt" % i, "w") as file:
            for _ in range(400):
                file.write(" ".join(words[k % 4000] for k in chance.zipf(1.2, 300).tolist()) + "\n")


args = common.arguments(buckets=16384, hidden=256, labels=20)
data = common.prepared(args, make)
chance = numpy.random.default_rng(1)
first = chance.normal(0, 0.05, (args.buckets, args.hidden)).astype(numpy.float32)
second = chance.normal(0, 0.05, (args.hidden, args.labels)).astype(numpy.float32)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/labels%d.jsonl" % (turn % 3), "w", buffering=1) as out:
        for name in sorted(glob.glob(data + "/*.txt")):
            for number, line in enumerate(open(name)):
                places = [zlib.crc32(word.encode()) % args.buckets for word in line.split()]
                scores = numpy.maximum(first[places].mean(0), 0) @ second
                out.write(json.dumps({"line": number, "label": int(scores.argmax())}) + "\n")
            if not clock.running():
                break
    turn += 1
