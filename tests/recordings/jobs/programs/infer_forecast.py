# SPDX-License-Identifier: Apache-2.0
"""Nightly forecasts: a fixed recurrent network reads the history of every shop's goods and writes the next week."""
import glob

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(29)
    for i in range(common.few(60)):
        goods = numpy.abs(chance.normal(20, 5, (500, 1)) + chance.normal(0, 4, (500, 365)))
        with open(folder + "/shop%02d.csv" % i, "w") as file:
            file.writelines(",".join("%.1f" % v for v in row) + "\n" for row in goods.tolist())


args = common.arguments(hidden=48, days=7)
data, out = common.prepared(args, make), common.output(args, "forecasts")
chance = numpy.random.default_rng(11)
inside = chance.normal(0, 0.3, (1, args.hidden))
again = chance.normal(0, 0.8 / args.hidden ** 0.5, (args.hidden, args.hidden))
last = chance.normal(0, 0.2, args.hidden)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for number, name in enumerate(sorted(glob.glob(data + "/*.csv"))):
        history = numpy.loadtxt(name, delimiter=",")
        scale = history.mean(1, keepdims=True)
        state, guesses = numpy.zeros((len(history), args.hidden)), []
        for day in (history / scale).T:
            state = numpy.tanh(day[:, None] * inside + state @ again)
        for _ in range(args.days):
            guesses.append(1 + state @ last)
            state = numpy.tanh(guesses[-1][:, None] * inside + state @ again)
        with open("%s/shop%02d.csv" % (out, number), "w") as file:
            file.writelines(",".join("%.1f" % v for v in row) + "\n" for row in (scale * numpy.array(guesses).T).tolist())
        if not clock.running():
            break
