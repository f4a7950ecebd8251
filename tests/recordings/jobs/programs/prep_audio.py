# SPDX-License-Identifier: Apache-2.0
"""Turns WAV recordings into log spectrograms with SciPy, one .npy per recording."""
import glob
import os
import wave

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(5)
    t = numpy.arange(16000 * 40) / 16000
    for i in range(common.few(50)):
        tone = sum(numpy.sin(2 * numpy.pi * f * t + 3 * numpy.sin(t)) for f in chance.integers(80, 4000, 3))
        with wave.open(folder + "/%03d.wav" % i, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes(((tone + chance.normal(0, 0.3, t.size)) * 6000).clip(-32000, 32000).astype("<i2").tobytes())


args = common.arguments(rate=22050)
data, out = common.prepared(args, make), common.output(args)
from math import gcd

from scipy import signal

clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.wav")):
        with wave.open(name, "rb") as file:
            sound = numpy.frombuffer(file.readframes(file.getnframes()), "<i2").astype(numpy.float32) / 32768
        part = gcd(args.rate, 16000)
        sound = signal.resample_poly(sound, args.rate // part, 16000 // part)
        sound = signal.lfilter([1, -0.97], [1], sound)
        power = signal.spectrogram(sound, fs=args.rate, nperseg=1024, noverlap=768)[2]
        bands = numpy.add.reduceat(power, numpy.unique(numpy.geomspace(1, 512, 80).astype(int)), axis=0)
        numpy.save(os.path.join(out, os.path.basename(name) + ".npy"), numpy.log(bands + 1e-9).astype(numpy.float32))
        if not clock.running():
            break
