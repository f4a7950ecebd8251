# SPDX-License-Identifier: Apache-2.0
"""Takes frames out of motion-JPEG videos, drops near-equal ones, and writes cropped pictures."""
import glob
import os

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(9)
    for clip in range(4):
        back = cv2.resize(chance.integers(0, 120, (30, 40, 3), dtype=numpy.uint8), (960, 720))
        writer = cv2.VideoWriter("%s/%d.avi" % (folder, clip), cv2.VideoWriter_fourcc(*"MJPG"), 25, (960, 720))
        for i in range(common.few(150)):
            frame = back.copy()
            cv2.circle(frame, (480 + int(300 * numpy.sin(i / 15)), 360), 90, (40, 200, 250), -1)
            writer.write(frame)
        writer.release()


args = common.arguments(step=1)
data, out = common.prepared(args, make), common.output(args)
cv2.setNumThreads(common.CORES)
clock = common.Clock(args.seconds)
while clock.running():
    common.cold(data)
    for name in sorted(glob.glob(data + "/*.avi")):
        video, last, number = cv2.VideoCapture(name), None, 0
        assert video.isOpened()
        while clock.running():
            good, frame = video.read()
            if not good:
                break
            number += 1
            gray = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), (96, 72)).astype(numpy.int16)
            if number % args.step or (last is not None and numpy.abs(gray - last).mean() < 0.2):
                continue
            last = gray
            face = cv2.resize(frame[60:660, 180:780], (299, 299), interpolation=cv2.INTER_AREA)
            cv2.imwrite("%s/%s-%d.jpg" % (out, os.path.basename(name), number), cv2.medianBlur(face, 5))
        video.release()
