# SPDX-License-Identifier: Apache-2.0
"""Watches recorded videos as fast as it can: a network looks at every frame and writes what it found."""
import glob
import json

import common
import cv2
import numpy


def make(folder):
    chance = numpy.random.default_rng(23)
    for clip in range(3):
        back = cv2.resize(chance.integers(0, 120, (30, 40, 3), dtype=numpy.uint8), (640, 480))
        writer = cv2.VideoWriter("%s/%d.avi" % (folder, clip), cv2.VideoWriter_fourcc(*"MJPG"), 25, (640, 480))
        for i in range(common.few(250)):
            frame = back.copy()
            cv2.circle(frame, (320 + int(200 * numpy.sin(i / 12)), 240), 60, (40, 200, 250), -1)
            writer.write(frame)
        writer.release()


args = common.arguments(size=224, width=16)
data = common.prepared(args, make)
import onnxfile

cv2.setNumThreads(common.CORES)
onnxfile.write(args.dir + "/net.onnx", args.size, [args.width, args.width * 2, args.width * 4], seed=3)
net = cv2.dnn.readNetFromONNX(args.dir + "/net.onnx")
clock, turn = common.Clock(args.seconds), 0
while clock.running():
    common.cold(data)
    with open(args.dir + "/found%d.jsonl" % (turn % 3), "w", buffering=1) as out:
        for name in sorted(glob.glob(data + "/*.avi")):
            video, number = cv2.VideoCapture(name), 0
            while clock.running():
                good, frame = video.read()
                if not good:
                    break
                net.setInput(cv2.dnn.blobFromImage(frame, 1 / 255, (args.size, args.size), swapRB=True))
                scores = net.forward().ravel()
                out.write(json.dumps({"clip": name[-5:], "frame": number, "scores": scores.round(4).tolist()}) + "\n")
                number += 1
    turn += 1
