# SPDX-License-Identifier: Apache-2.0
"""Learns to balance poles by evolution: a crowd of changed networks plays, the better ones pull the next crowd."""
import common

args = common.arguments(crowd=64, hidden=64, steps=300)
import numpy

chance = numpy.random.default_rng(35)
shapes = [(4, args.hidden), (args.hidden, args.hidden), (args.hidden, 1)]
center = [chance.normal(0, 0.1, shape) for shape in shapes]


def play(crowd):
    """How long every network of the crowd keeps its pole up."""
    state, alive, score = chance.uniform(-0.05, 0.05, (args.crowd, 4)), numpy.ones(args.crowd, bool), numpy.zeros(args.crowd)
    for _ in range(args.steps):
        x = state[:, None, :]
        for weights in crowd:
            x = numpy.tanh(x @ weights)
        push, (place, speed, angle, turn) = 10 * x[:, 0, 0], state.T
        lift = (push + 0.05 * turn ** 2 * numpy.sin(angle)) / 1.1
        bend = (9.8 * numpy.sin(angle) - numpy.cos(angle) * lift) / (0.5 * (4 / 3 - 0.1 * numpy.cos(angle) ** 2 / 1.1))
        state = state + 0.02 * numpy.column_stack([speed, lift - 0.05 * bend * numpy.cos(angle) / 1.1, turn, bend])
        alive &= (abs(state[:, 0]) < 2.4) & (abs(state[:, 2]) < 0.21)
        state[~alive] = 0
        score += alive
    return score


clock, generation = common.Clock(args.seconds), 0
while clock.running():
    noise = [chance.standard_normal((args.crowd, *shape)) for shape in shapes]
    score = play([c + 0.1 * n for c, n in zip(center, noise)])
    rank = score.argsort().argsort() / args.crowd - 0.5
    center = [c + 0.05 * numpy.tensordot(rank, n, 1) / 6 for c, n in zip(center, noise)]
    generation += 1
    if generation % 10 == 0:
        print(generation, score.mean(), flush=True)
    if generation % 50 == 0:
        numpy.savez(args.dir + "/policy.npz", *center)
