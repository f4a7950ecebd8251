# SPDX-License-Identifier: Apache-2.0
"""Boosts small trees in numpy on a table in memory: each one splits by counts of gradients in bins."""
import common

args = common.arguments(rows=60000, columns=24, bins=64, depth=4, rate=0.1)
import numpy

chance = numpy.random.default_rng(38)
x = chance.standard_normal((args.rows, args.columns))
y = numpy.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + chance.normal(0, 0.1, args.rows)
bins = (numpy.argsort(numpy.argsort(x, 0), 0) * args.bins // args.rows).astype(numpy.int64)
edge = args.rows * 4 // 5
clock, guess, trees = common.Clock(args.seconds), numpy.zeros(args.rows), []


def best_split(rows, slope):
    """The column and bin whose two sides differ most in the mean of the gradients."""
    best = (0.0, 0, 0)
    for column in range(args.columns):
        places = bins[rows, column]
        count = numpy.bincount(places, minlength=args.bins).cumsum()[:-1]
        total = numpy.bincount(places, slope[rows], args.bins).cumsum()
        left, right = total[:-1], total[-1] - total[:-1]
        gain = left ** 2 / (count + 1) + right ** 2 / (len(rows) - count + 1)
        best = max(best, (float(gain.max()), column, int(gain.argmax())))
    return best[1:]


while clock.running():
    slope, leaves, tree = y - guess, [numpy.arange(args.rows)], []
    for _ in range(args.depth):
        parts = []
        for rows in leaves:
            column, at = best_split(rows[rows < edge], slope)
            low = bins[rows, column] <= at
            tree.append((column, at))
            parts += [rows[low], rows[~low]]
        leaves = parts
    for rows in leaves:
        known = rows[rows < edge]
        guess[rows] += args.rate * (slope[known].mean() if len(known) else 0)
    trees.append(tree)
    if len(trees) % 20 == 0:
        print(len(trees), ((y - guess)[edge:] ** 2).mean(), flush=True)
        numpy.save(args.dir + "/trees.npy", numpy.array(trees))
