# SPDX-License-Identifier: Apache-2.0
"""Looks for people in a folder of photographs with OpenCV's learned detector and writes where they are."""
import glob
import json

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(26)
    for i in range(common.few(400)):
        small = chance.integers(0, 255, (45, 60, 3), dtype=numpy.uint8)
        picture = cv2.resize(small, (800, 600), interpolation=cv2.INTER_CUBIC)
        for x, y in chance.integers(80, 500, (3, 2)).tolist():
            cv2.circle(picture, (x, y - 60), 14, (150, 170, 220), -1)
            cv2.rectangle(picture, (x - 22, y - 45), (x + 22, y + 80), (40, 30, 60), -1)
        cv2.imwrite(folder + "/%03d.jpg" % i, picture)


args = common.arguments()
data = common.prepared(args, make)
cv2.setNumThreads(common.CORES)
detector = cv2.HOGDescriptor()
detector.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/people%d.jsonl" % (turn % 3), "w") as out:
        for name in sorted(glob.glob(data + "/*.jpg")):
            boxes, weights = detector.detectMultiScale(cv2.imread(name), winStride=(8, 8), scale=1.1)
            out.write(json.dumps({"file": name, "boxes": [list(map(int, box)) for box in boxes],
                                  "weights": [round(float(w), 4) for w in weights]}) + "\n")
            if not clock.running():
                break
    turn += 1
