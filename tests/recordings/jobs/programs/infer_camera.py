# SPDX-License-Identifier: Apache-2.0
"""Camera-like inference: frames at a fixed rate from files, one network pass each, a line of output."""
import common
import numpy


def make(folder):
    import cv2
    chance = numpy.random.default_rng(4)
    back = chance.integers(0, 80, (480, 640, 3), dtype=numpy.uint8)
    for i in range(200):
        frame = back.copy()
        cv2.circle(frame, (int(320 + 200 * numpy.sin(i / 20)), 240), 50, (200, 220, 90), -1)
        cv2.rectangle(frame, (i * 3 % 600, 60), (i * 3 % 600 + 40, 120), (60, 90, 250), -1)
        cv2.imwrite(folder + "/%04d.jpg" % i, frame)


args = common.arguments(device="cuda", fps=25.0, model="mobilenet_v3_large", size=320)
data = common.prepared(args, make)
import time

import cv2
import torch
import torchvision

torch.set_num_threads(common.CORES)
cv2.setNumThreads(1)
device = args.device if torch.cuda.is_available() else "cpu"
model = getattr(torchvision.models, args.model)(weights=None).eval().to(device)
found = open(args.dir + "/found.csv", "w")
clock, frame, begin = common.Clock(args.seconds), 0, time.monotonic()
while clock.running():
    image = cv2.resize(cv2.imread(data + "/%04d.jpg" % (frame % 200)), (args.size, args.size))
    batch = torch.from_numpy(image).to(device).permute(2, 0, 1)[None].float() / 255
    with torch.inference_mode():
        best = model(batch)[0].max(0)
    print(frame, best.indices.item(), best.values.item(), sep=",", file=found, flush=True)
    frame += 1
    time.sleep(max(0.0, begin + frame / args.fps - time.monotonic()))
