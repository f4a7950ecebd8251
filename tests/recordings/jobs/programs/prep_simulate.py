# SPDX-License-Identifier: Apache-2.0
"""Simulates coupled pendulums and writes their paths as tables for a model to be trained later."""
import common

args = common.arguments(steps=2000, pendulums=12)
import numpy

chance, out = numpy.random.default_rng(42), common.output(args)
clock, number = common.Clock(args.seconds), 0
while clock.running():
    angle, speed = chance.uniform(-2, 2, args.pendulums), numpy.zeros(args.pendulums)
    with open("%s/%03d.csv" % (out, number % 300), "w") as file:
        for step in range(args.steps):
            pull = numpy.roll(angle, 1) + numpy.roll(angle, -1) - 2 * angle
            speed += 0.01 * (-9.81 * numpy.sin(angle) + 3 * pull - 0.05 * speed)
            angle += 0.01 * speed
            file.write("%.2f," % (step * 0.01) + ",".join("%.5f" % v for v in angle.tolist()) + "\n")
            if step % 500 == 0 and not clock.running():
                break
    number += 1
