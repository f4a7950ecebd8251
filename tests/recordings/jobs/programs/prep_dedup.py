# SPDX-License-Identifier: Apache-2.0
"""Finds equal and nearly equal documents by SHA-256 and by min-hashes of word groups; copies the rest."""
import glob
import hashlib
import os
import random
import shutil
import zlib

import common


def make(folder):
    chance = random.Random(13)
    words = ["w%d" % i for i in range(3000)]
    texts = [chance.choices(words, k=4000) for _ in range(250)]
    for i in range(600):
        text = list(chance.choice(texts))
        if i % 3:
            text[chance.randrange(len(text))] = "changed"
        with open("%s/%05d.txt" % (folder, i), "w") as file:
            file.write(" ".join(text))


args = common.arguments(hashes=24)
data = common.prepared(args, make)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    out, seen, near = common.output(args), set(), set()
    for name in sorted(glob.glob(data + "/*.txt")):
        with open(name, "rb") as file:
            text = file.read()
        digest = hashlib.sha256(text).digest()
        if digest in seen:
            continue
        seen.add(digest)
        words = text.split()
        groups = {zlib.crc32(b" ".join(words[i:i + 3])) for i in range(len(words) - 2)}
        mark = tuple(min((g * (2 * k + 1) ^ 0x9E3779B9 * k) & 0xFFFFFFFF for g in groups) for k in range(args.hashes))
        bands = {(i, mark[i:i + 6]) for i in range(0, args.hashes, 6)}
        if not bands & near:
            shutil.copy(name, os.path.join(out, os.path.basename(name)))
        near |= bands
        if not clock.running():
            break
