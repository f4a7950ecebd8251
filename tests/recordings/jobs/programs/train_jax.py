# SPDX-License-Identifier: Apache-2.0
"""Trains a perceptron with JAX on the CPU against a fixed random teacher network."""
import os

import common

args = common.arguments(hidden=512, batch=1024)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
cpus = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, set(cpus[-common.CORES:]))
import jax
import jax.numpy as jnp
import numpy

chance = numpy.random.default_rng(8)


def layers(sizes):
    return [(jnp.asarray(chance.normal(0, (2 / a) ** 0.5, (a, b)).astype(numpy.float32)),
             jnp.zeros(b, dtype=jnp.float32)) for a, b in zip(sizes, sizes[1:])]


def forward(parameters, x):
    for w, b in parameters[:-1]:
        x = jnp.maximum(x @ w + b, 0)
    w, b = parameters[-1]
    return x @ w + b


def cost(parameters, x, y):
    return jnp.mean((forward(parameters, x) - y) ** 2)


@jax.jit
def step(parameters, x, y):
    value, slope = jax.value_and_grad(cost)(parameters, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.01 * g, parameters, slope)


teacher = layers([64, 32, 4])
x = chance.standard_normal((100000, 64)).astype(numpy.float32)
y = numpy.asarray(forward(teacher, jnp.asarray(x)))
parameters = layers([64, args.hidden, args.hidden, 4])
clock, steps = common.Clock(args.seconds), 0
while clock.running():
    picked = chance.integers(0, 90000, args.batch)
    value, parameters = step(parameters, x[picked], y[picked])
    steps += 1
    if steps % 100 == 0:
        check = float(cost(parameters, jnp.asarray(x[90000:]), jnp.asarray(y[90000:])))
        print(steps, float(value), check, flush=True)
