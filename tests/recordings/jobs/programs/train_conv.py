# SPDX-License-Identifier: Apache-2.0
"""Trains a convolutional network written in numpy on pictures in memory; logs every step, saves every epoch."""
import common

args = common.arguments(pictures=6000, channels=16, batch=32, rate=0.02)
import numpy

chance = numpy.random.default_rng(37)
x = chance.standard_normal((args.pictures, 28, 28)).astype(numpy.float32)
y = chance.integers(0, 10, args.pictures)
for i, label in enumerate(y):
    x[i, label * 2:label * 2 + 8, 4:20] += 1.0
edge = args.pictures * 9 // 10
kernel = chance.normal(0, 0.2, (25, args.channels)).astype(numpy.float32)
last = chance.normal(0, 0.02, (144 * args.channels, 10)).astype(numpy.float32)


def forward(pictures):
    windows = numpy.lib.stride_tricks.sliding_window_view(pictures, (5, 5), axis=(1, 2))
    columns = windows.reshape(-1, 25)
    maps = numpy.maximum(columns @ kernel, 0).reshape(len(pictures), 12, 2, 12, 2, args.channels)
    pooled = maps.mean((2, 4)).reshape(len(pictures), -1)
    scores = pooled @ last
    e = numpy.exp(scores - scores.max(1, keepdims=True))
    return columns, maps, pooled, e / e.sum(1, keepdims=True)


clock, epoch, log = common.Clock(args.seconds), 0, open(args.dir + "/steps.csv", "w")
while clock.running():
    order = chance.permutation(edge)
    for at in range(0, edge, args.batch):
        chosen = order[at:at + args.batch]
        columns, maps, pooled, p = forward(x[chosen])
        loss = -numpy.log(p[numpy.arange(len(chosen)), y[chosen]] + 1e-9).mean()
        p[numpy.arange(len(chosen)), y[chosen]] -= 1
        back = (p @ last.T).reshape(len(chosen), 12, 1, 12, 1, args.channels) / 4 * (maps > 0)
        last -= args.rate * pooled.T @ p / len(chosen)
        kernel -= args.rate * columns.T @ back.reshape(-1, args.channels) / len(chosen)
        log.write("%d,%d,%.5f\n" % (epoch, at, loss))
        if not clock.running():
            break
    right = numpy.mean([(forward(x[at:at + 50])[3].argmax(1) == y[at:at + 50]).mean() for at in range(edge, len(x), 50)])
    epoch += 1
    numpy.savez(args.dir + "/epoch%03d.npz" % epoch, kernel=kernel, last=last)
    print(epoch, right, flush=True)
