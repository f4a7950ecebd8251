# SPDX-License-Identifier: Apache-2.0
"""Trains a network written in numpy; every epoch reads the shards from disk again, and ends with a checkpoint."""
import glob

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(31)
    for i in range(common.few(40)):
        x = chance.standard_normal((8000, 128)).astype(numpy.float32)
        numpy.savez(folder + "/%02d.npz" % i, x=x, y=(x[:, :8].sum(1) * 1.5).astype(int) % 10)


args = common.arguments(hidden=384, batch=128, rate=0.05)
data = common.prepared(args, make)
chance = numpy.random.default_rng(4)
sizes = [128, args.hidden, args.hidden, 10]
weights = [chance.normal(0, (2 / a) ** 0.5, (a, b)).astype(numpy.float32) for a, b in zip(sizes, sizes[1:])]


def learn(x, y):
    layers = [x]
    for i, w in enumerate(weights):
        z = layers[-1] @ w
        layers.append(numpy.maximum(z, 0) if i + 1 < len(weights) else z)
    e = numpy.exp(layers[-1] - layers[-1].max(1, keepdims=True))
    slope = e / e.sum(1, keepdims=True)
    right = (slope.argmax(1) == y).mean()
    slope[numpy.arange(len(y)), y] -= 1
    for i in reversed(range(len(weights))):
        step = layers[i].T @ slope / len(y)
        slope = (slope @ weights[i].T) * (layers[i] > 0)
        weights[i] -= args.rate * step
    return right


clock, epoch = common.Clock(args.seconds), 0
names = sorted(glob.glob(data + "/*.npz"))
while clock.running():
    common.cold(data)
    for name in chance.permutation(names):
        shard = numpy.load(name)
        x, y = shard["x"], shard["y"]
        for at in range(0, len(x), args.batch):
            right = learn(x[at:at + args.batch], y[at:at + args.batch])
        if not clock.running():
            break
    epoch += 1
    numpy.savez(args.dir + "/checkpoint.npz", *weights)
    print(epoch, right, flush=True)
