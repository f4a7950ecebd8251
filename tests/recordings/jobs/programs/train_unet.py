# SPDX-License-Identifier: Apache-2.0
"""Trains a small U-Net to cut out discs; loader workers read .npy files from the disk."""
import glob

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(10)
    y, x = numpy.mgrid[0:192, 0:192]
    for i in range(400):
        image = chance.integers(0, 90, (3, 192, 192), dtype=numpy.uint8)
        mask = numpy.zeros((192, 192), numpy.uint8)
        for cx, cy, r in chance.integers(20, 170, (4, 3)):
            mask |= ((x - cx) ** 2 + (y - cy) ** 2 < (r / 5) ** 2).astype(numpy.uint8)
        image += mask * numpy.uint8(80)
        numpy.save(folder + "/%04d.npy" % i, numpy.concatenate([image, mask[None]]))


args = common.arguments(width=24, batch=16, workers=2)
data = common.prepared(args, make)
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Files(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        both = numpy.load(self.names[i])
        if numpy.random.random() < 0.5:
            both = both[:, :, ::-1]
        noise = numpy.random.normal(0, 8, both[:3].shape)
        image = numpy.clip(both[:3] + noise, 0, 255).astype(numpy.uint8)
        return torch.from_numpy(image), torch.from_numpy(both[3].copy())


def two(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.a, self.b, self.c = two(3, w), two(w, 2 * w), two(2 * w, 4 * w)
        self.d, self.e, self.last = two(6 * w, 2 * w), two(3 * w, w), nn.Conv2d(w, 1, 1)
        self.down, self.up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)

    def forward(self, x):
        a = self.a(x)
        b = self.b(self.down(a))
        c = self.c(self.down(b))
        d = self.d(torch.cat([self.up(c), b], 1))
        return self.last(self.e(torch.cat([self.up(d), a], 1)))[:, 0]


names = sorted(glob.glob(data + "/*.npy"))
loader = DataLoader(Files(names[:340]), batch_size=args.batch, shuffle=True, num_workers=args.workers)
check = DataLoader(Files(names[340:]), batch_size=args.batch, num_workers=1)
model = UNet(args.width).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for rows, train in ((loader, True), (check, False)):
        total = 0.0
        with torch.set_grad_enabled(train):
            for image, mask in rows:
                guess = model(image.to(device).float() / 255)
                loss = nn.functional.binary_cross_entropy_with_logits(guess, mask.to(device).float())
                if train:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                total += loss.item()
                if not clock.running():
                    break
        print("train" if train else "check", total / len(rows), flush=True)
    torch.save(model.state_dict(), args.dir + "/unet.pt")
