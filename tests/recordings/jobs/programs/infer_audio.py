# SPDX-License-Identifier: Apache-2.0
"""Finds events in sound files: spectra, two convolutional layers in numpy, a line for each event."""
import glob
import wave

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(24)
    for i in range(common.few(60)):
        tones = numpy.sin(numpy.arange(16000 * 20) * chance.uniform(0.01, 0.9) + chance.normal(0, 0.2, 16000 * 20))
        with wave.open(folder + "/%03d.wav" % i, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes((tones * 12000).astype("<i2").tobytes())


args = common.arguments(bands=64, channels=48)
data = common.prepared(args, make)
chance = numpy.random.default_rng(3)
first = chance.normal(0, 0.1, (3 * args.bands, args.channels)).astype(numpy.float32)
second = chance.normal(0, 0.1, (3 * args.channels, 12)).astype(numpy.float32)
window = numpy.hanning(512).astype(numpy.float32)


def spread(x):
    return numpy.hstack([x[:-2], x[1:-1], x[2:]])


clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/events%d.csv" % (turn % 3), "w", buffering=1) as out:
        for name in sorted(glob.glob(data + "/*.wav")):
            with wave.open(name) as file:
                sound = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype(numpy.float32) / 32768
            frames = numpy.lib.stride_tricks.sliding_window_view(sound, 512)[::128] * window
            power = numpy.log(numpy.abs(numpy.fft.rfft(frames))[:, :256].reshape(len(frames), args.bands, -1).mean(2) + 1e-6)
            scores = spread(numpy.maximum(spread(power.astype(numpy.float32)) @ first, 0)) @ second
            for at in numpy.flatnonzero(numpy.diff(scores.argmax(1)))[:200].tolist():
                out.write("%s,%.3f,%d\n" % (name[-7:], at * 0.008, scores[at].argmax()))
            if not clock.running():
                break
    turn += 1
