# SPDX-License-Identifier: Apache-2.0
"""Resizes and normalises raw pictures on the GPU (PyTorch or CuPy) and writes float16 arrays to disk."""
import glob
import os

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(10)
    for i in range(common.few(24)):
        numpy.save(folder + "/%03d.npy" % i, chance.integers(0, 255, (8, 3, 768, 768), dtype=numpy.uint8))


args = common.arguments(library="torch", size=256, repeats=4)
data, out = common.prepared(args, make), common.output(args)
if args.library == "torch":
    import torch
    torch.set_num_threads(common.CORES)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def work(images, shift):
        batch = torch.roll(torch.from_numpy(images).to(device), shift, 3).float() / 255
        small = torch.nn.functional.interpolate(batch, size=(args.size, args.size), mode="bicubic", antialias=True)
        small = (small - small.mean((2, 3), keepdim=True)) / (small.std((2, 3), keepdim=True) + 1e-5)
        return small.half().cpu().numpy()
else:
    import cupy

    def work(images, shift):
        batch = cupy.roll(cupy.asarray(images), shift, 3).astype(cupy.float32) / 255
        n, c, h, w = batch.shape
        small = batch.reshape(n, c, args.size, h // args.size, args.size, w // args.size).mean(axis=(3, 5))
        small -= small.mean(axis=(2, 3), keepdims=True)
        small /= small.std(axis=(2, 3), keepdims=True) + 1e-5
        return cupy.asnumpy(small.astype(cupy.float16))

clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.npy")):
        images = numpy.load(name)
        views = [work(images, 32 * i) for i in range(args.repeats)]
        numpy.save(os.path.join(out, os.path.basename(name)), numpy.concatenate(views))
        if not clock.running():
            break
