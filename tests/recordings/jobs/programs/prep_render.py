# SPDX-License-Identifier: Apache-2.0
"""Draws scenes with known contents, with masks and boxes beside, as input for a detector to be trained later."""
import json

import common

args = common.arguments(width=960, height=720)
import cv2
import numpy

cv2.setNumThreads(1)
chance, out = numpy.random.default_rng(41), common.output(args)
clock, number = common.Clock(args.seconds), 0
while clock.running():
    noise = chance.integers(0, 255, (args.height // 24, args.width // 24, 3), dtype=numpy.uint8)
    image = cv2.resize(noise, (args.width, args.height), interpolation=cv2.INTER_CUBIC)
    mask, boxes = numpy.zeros((args.height, args.width), numpy.uint8), []
    for thing in range(int(chance.integers(3, 20))):
        x, y, size = (int(v) for v in chance.integers((0, 0, 20), (args.width, args.height, 120)))
        color = tuple(int(v) for v in chance.integers(0, 255, 3))
        cv2.ellipse(image, (x, y), (size, size // 2), float(chance.uniform(0, 180)), 0, 360, color, -1, cv2.LINE_AA)
        cv2.circle(mask, (x, y), size, thing + 1, -1)
        boxes.append([x - size, y - size, x + size, y + size])
    image = cv2.GaussianBlur(image, (5, 5), 0)
    cv2.imwrite("%s/%04d.png" % (out, number % 600), image)
    cv2.imwrite("%s/%04d-mask.png" % (out, number % 600), mask)
    with open("%s/%04d.json" % (out, number % 600), "w") as file:
        json.dump(boxes, file)
    number += 1
