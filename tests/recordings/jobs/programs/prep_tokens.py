# SPDX-License-Identifier: Apache-2.0
"""Learns byte pairs from a text, then turns the text into token numbers in binary shards."""
import array
import collections
import random

import common


def make(folder):
    chance = random.Random(6)
    parts = ["ta", "ri", "mo", "en", "sk", "ul", "or", "ne", "ith", "a", "o", "st"]
    words = ["".join(chance.choices(parts, k=chance.randint(1, 5))) for _ in range(6000)]
    weights = [1 / (i + 3) for i in range(len(words))]
    with open(folder + "/text.txt", "w") as file:
        for _ in range(40):
            file.write(" ".join(chance.choices(words, weights, k=50000)) + "\n")


args = common.arguments(merges=250)
data, out = common.prepared(args, make), common.output(args)
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    counts = collections.Counter()
    for line in open(data + "/text.txt"):
        counts.update(line.split())
    pieces = {word: tuple(word) for word in counts}
    numbers = {letter: i for i, letter in enumerate(sorted({c for w in counts for c in w}))}
    for _ in range(args.merges):
        pairs = collections.Counter()
        for word, parts in pieces.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += counts[word]
        if not pairs or not clock.running():
            break
        best = max(pairs, key=lambda p: (pairs[p], p))
        numbers["".join(best)] = len(numbers)
        for word, parts in pieces.items():
            if best[0] in parts and best[1] in parts:
                joined, i = [], 0
                while i < len(parts):
                    both = tuple(parts[i:i + 2]) == best
                    joined.append("".join(best) if both else parts[i])
                    i += 2 if both else 1
                pieces[word] = tuple(joined)
    for shard, line in enumerate(open(data + "/text.txt")):
        tokens = array.array("H", (numbers[p] for word in line.split() for p in pieces[word]))
        with open("%s/%d-%d.bin" % (out, turn % 3, shard), "wb") as file:
            tokens.tofile(file)
        if not clock.running():
            break
    turn += 1
