# SPDX-License-Identifier: Apache-2.0
"""Watches a machine: ten times a second a network judges the last seconds of 64 sensors; alarms go to a log."""
import time

import common

args = common.arguments(rate=10.0, hidden=512, history=128)
import numpy

chance = numpy.random.default_rng(25)
first = chance.normal(0, 0.02, (64 * args.history, args.hidden)).astype(numpy.float32)
second = chance.normal(0, 0.05, (args.hidden, args.hidden)).astype(numpy.float32)
last = chance.normal(0, 0.05, args.hidden).astype(numpy.float32)
history = numpy.zeros((args.history, 64), numpy.float32)
log = open(args.dir + "/alarms.txt", "w", buffering=1)
clock, step, begin = common.Clock(args.seconds), 0, time.monotonic()
while clock.running():
    history = numpy.roll(history, -1, axis=0)
    history[-1] = numpy.sin(step * numpy.arange(64) / 50) + chance.normal(0, 0.3, 64)
    spectra = numpy.abs(numpy.fft.rfft(history, axis=0))
    x = numpy.maximum(history.ravel() @ first, 0)
    for _ in range(20):
        x = numpy.maximum(x @ second, 0) + 0.01 * spectra.mean()
    if x @ last > 0.5:
        log.write("%d %.3f\n" % (step, x @ last))
    step += 1
    time.sleep(max(0.0, begin + step / args.rate - time.monotonic()))
