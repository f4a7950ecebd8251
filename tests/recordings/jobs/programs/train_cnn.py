# SPDX-License-Identifier: Apache-2.0
"""Trains a small residual CNN on striped pictures: epochs, validation, checkpoints to disk."""
import math
import os

import common

args = common.arguments(width=32, batch=64, images=8000)
import torch
from torch import nn

torch.set_num_threads(common.CORES)
torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"


def pictures(count):
    """Stripes in one of ten directions, with noise: (count, 3, 48, 48) bytes and labels."""
    labels = torch.randint(0, 10, (count,))
    line = torch.linspace(-1, 1, 48)
    y, x = torch.meshgrid(line, line, indexing="ij")
    angle = (labels * math.pi / 10).view(-1, 1, 1)
    phase = torch.rand(count, 1, 1) * 6
    wave = torch.sin(9 * (x * angle.cos() + y * angle.sin()) + phase)
    wave = wave + 0.8 * torch.randn(count, 48, 48)
    images = (wave * 40 + 128).clamp(0, 255).to(torch.uint8)
    return images.unsqueeze(1).expand(-1, 3, -1, -1).contiguous(), labels


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(x + self.body(x))


w = args.width
model = nn.Sequential(nn.Conv2d(3, w, 3, padding=1), Block(w), nn.MaxPool2d(2), Block(w), Block(w),
                      nn.MaxPool2d(2), Block(w), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(w, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images, labels = pictures(args.images)
held, held_labels = pictures(args.images // 5)
folder = common.output(args, "checkpoints")
clock, epoch = common.Clock(args.seconds), 0
while clock.running():
    model.train()
    for picked in torch.randperm(len(images)).split(args.batch):
        batch = images[picked].to(device).float() / 255
        loss = nn.functional.cross_entropy(model(batch), labels[picked].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not clock.running():
            break
    model.eval()
    right = 0
    with torch.no_grad():
        for i in range(0, len(held), 256):
            guess = model(held[i:i + 256].to(device).float() / 255).argmax(1).cpu()
            right += (guess == held_labels[i:i + 256]).sum().item()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()},
               os.path.join(folder, "epoch%d.pt" % (epoch % 3)))
    epoch += 1
    print(epoch, loss.item(), right / len(held), flush=True)
