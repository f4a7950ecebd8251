# SPDX-License-Identifier: Apache-2.0
"""Teaches a perceptron to tag words in plain Python: each epoch goes through the text file and checks on a part."""
import json
import random

import common


def make(folder):
    chance = random.Random(39)
    words = ["".join(chance.choice("abcdefghijklmnoprstu") for _ in range(chance.randrange(2, 9))) for _ in range(5000)]
    with open(folder + "/tagged.txt", "w") as file:
        for _ in range(common.few(30000)):
            line = [min(int(chance.expovariate(0.002)), 4999) for _ in range(15)]
            file.write(" ".join("%s/%d" % (words[k], (k + len(words[k])) % 12) for k in line) + "\n")


args = common.arguments(tags=12)
data = common.prepared(args, make)
weights, clock, epoch = {}, common.Clock(args.seconds), 0


def features(words, i, before):
    word = words[i]
    return ("w" + word, "s" + word[-2:], "p" + word[:2], "b%d" % before, "n" + (words[i + 1] if i + 1 < len(words) else ""))


def tag(known):
    scores = [0.0] * args.tags
    for name in known:
        for k, weight in weights.get(name, {}).items():
            scores[k] += weight
    return scores.index(max(scores))


while clock.running():
    right = seen = 0
    with open(data + "/tagged.txt") as file:
        for number, line in enumerate(file):
            pairs = [pair.split("/") for pair in line.split()]
            words, before = [word for word, _ in pairs], -1
            for i, (_, wanted) in enumerate(pairs):
                known = features(words, i, before)
                before, wanted = tag(known), int(wanted)
                if number % 10 == 0:
                    right, seen = right + (before == wanted), seen + 1
                elif before != wanted:
                    for name in known:
                        row = weights.setdefault(name, {})
                        row[wanted], row[before] = row.get(wanted, 0) + 1, row.get(before, 0) - 1
            if not clock.running():
                break
    epoch += 1
    print(epoch, right / max(1, seen), flush=True)
    with open(args.dir + "/tagger.json", "w") as file:
        json.dump(weights, file)
