# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a ResNet on shards of pictures that are streamed over the network from --source."""
import io
import urllib.request

import common
import numpy


def make(folder):
    chance = numpy.random.default_rng(12)
    for i in range(16):
        labels = chance.integers(0, 5, 400)
        images = chance.integers(0, 120, (400, 3, 80, 80), dtype=numpy.uint8)
        for image, label in zip(images, labels):
            image[label % 3, 10 + 10 * label:30 + 10 * label] += 100
        numpy.savez(folder + "/%d.npz" % i, images=images, labels=labels)


args = common.arguments(passes=8, batch=64)
common.prepared(args, make)
import torch
import torchvision
from torch import nn

torch.set_num_threads(common.CORES)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torchvision.models.resnet18(weights=None, num_classes=5).to(device)
for name, part in model.named_parameters():
    part.requires_grad = name.startswith(("layer3", "layer4", "fc"))
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
clock, shard = common.Clock(args.seconds), 0
while clock.running():
    with urllib.request.urlopen("%s/%d.npz" % (args.source, shard % 16), timeout=20) as reply:
        table = numpy.load(io.BytesIO(reply.read()))
    images, labels = torch.from_numpy(table["images"]), torch.from_numpy(table["labels"]).long()
    for _ in range(args.passes):
        for picked in torch.randperm(len(images)).split(args.batch):
            batch = nn.functional.interpolate(images[picked].to(device).float() / 255, size=160)
            loss = nn.functional.cross_entropy(model(batch), labels[picked].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if not clock.running():
            break
    shard += 1
    print(shard, loss.item(), flush=True)
torch.save(model.state_dict(), args.dir + "/tuned.pt")
