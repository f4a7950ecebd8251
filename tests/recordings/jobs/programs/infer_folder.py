# SPDX-License-Identifier: Apache-2.0
"""Offline scoring: a network runs over a folder of pictures in batches and writes a CSV of scores."""
import common
import numpy


def make(folder):
    import cv2
    chance = numpy.random.default_rng(5)
    for i in range(common.few(600)):
        small = chance.integers(0, 255, (12, 16, 3), dtype=numpy.uint8)
        cv2.imwrite(folder + "/%04d.jpg" % i, cv2.resize(small, (640, 480), interpolation=cv2.INTER_CUBIC))


args = common.arguments(device="cuda", batch=64, model="resnet50", readers=2)
data = common.prepared(args, make)
import concurrent.futures
import glob

import cv2
import torch
import torchvision

torch.set_num_threads(common.CORES)
cv2.setNumThreads(1)
device = args.device if torch.cuda.is_available() else "cpu"
model = getattr(torchvision.models, args.model)(weights=None).eval().to(device)
names = sorted(glob.glob(data + "/*.jpg"))


def load(name):
    return torch.from_numpy(cv2.resize(cv2.imread(name), (224, 224)))


clock, turn = common.Clock(args.seconds), 0
with concurrent.futures.ThreadPoolExecutor(args.readers) as pool:
    while clock.running():
        common.cold(data)
        with open(args.dir + "/scores%d.csv" % (turn % 4), "w") as file:
            for i in range(0, len(names), args.batch):
                part = names[i:i + args.batch]
                batch = torch.stack(list(pool.map(load, part))).to(device)
                with torch.inference_mode():
                    scores = model(batch.permute(0, 3, 1, 2).float() / 255).softmax(1).cpu()
                for name, row in zip(part, scores[:, :20].tolist()):
                    file.write(name + "," + ",".join("%.5f" % v for v in row) + "\n")
                if not clock.running():
                    break
        turn += 1
