# SPDX-License-Identifier: Apache-2.0
"""Softmax regression with momentum, written by hand with CuPy on the GPU."""
import common

args = common.arguments(rows=200000, columns=512, batch=20000)
import cupy
import numpy

cupy.random.seed(9)
x = cupy.random.standard_normal((args.rows, args.columns), dtype=cupy.float32)
truth = cupy.random.standard_normal((args.columns, 10), dtype=cupy.float32)
y = cupy.argmax(x @ truth, axis=1)
weights = cupy.zeros((args.columns, 10), dtype=cupy.float32)
moment = cupy.zeros_like(weights)
edge = int(args.rows * 0.9)
clock, epoch = common.Clock(args.seconds), 0
while clock.running():
    for start in range(0, edge, args.batch):
        rows, labels = x[start:start + args.batch], y[start:start + args.batch]
        scores = rows @ weights
        scores -= scores.max(axis=1, keepdims=True)
        chances = cupy.exp(scores)
        chances /= chances.sum(axis=1, keepdims=True)
        chances[cupy.arange(len(rows)), labels] -= 1
        moment = 0.9 * moment + rows.T @ chances / len(rows)
        weights = weights - 0.1 * moment
    right = float((cupy.argmax(x[edge:] @ weights, axis=1) == y[edge:]).mean())
    epoch += 1
    if epoch % 50 == 0:
        numpy.save(args.dir + "/weights.npy", cupy.asnumpy(weights))
        print(epoch, right, flush=True)
