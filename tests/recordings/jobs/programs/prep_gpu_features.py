# SPDX-License-Identifier: Apache-2.0
"""Extracts features of long signals on the GPU: short Fourier transforms, energy bands, statistics."""
import common

args = common.arguments(signals=64, samples=480000)
import numpy
import torch

torch.set_num_threads(common.CORES)
torch.manual_seed(11)
device = "cuda" if torch.cuda.is_available() else "cpu"
out = common.output(args)
time_axis = numpy.arange(args.samples, dtype=numpy.float32) / 16000
chance = numpy.random.default_rng(11)
window = torch.hann_window(1024, device=device)
clock, part = common.Clock(args.seconds), 0
while clock.running():
    tones = chance.uniform(50, 5000, (args.signals, 1)).astype(numpy.float32)
    raw = (numpy.sin(6.283 * tones * time_axis[None]) * 20000).astype(numpy.int16)  # as from a recorder
    sound = torch.from_numpy(raw).to(device).float() / 32768
    rows = []
    for hop in (128, 256, 512):
        power = torch.stft(sound, 1024, hop, window=window, return_complex=True).abs() ** 2
        bands = power[:, :512].reshape(args.signals, 64, 8, -1).mean(2).add(1e-9).log()
        rows += [bands.mean(2), bands.std(2), bands.amax(2), torch.quantile(bands[:, :, :2000], 0.9, dim=2)]
    numpy.save("%s/%04d.npy" % (out, part % 400), torch.cat(rows, 1).cpu().numpy())
    numpy.save("%s/bands%02d.npy" % (out, part % 20), bands.half().cpu().numpy())
    part += 1
