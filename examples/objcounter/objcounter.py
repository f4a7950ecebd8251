#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts animals that cross a river, as a camera sees it, in a video, a folder of pictures, or a drawn scene."""
import argparse
import json
import os
import sys
import time

import cv2

from scene import Scene
from tracker import Detector, Tracker

PICTURES = ('.jpg', '.jpeg', '.png', '.bmp')


def live_metrics():
    """The profiler's hooks; the app runs as well without them."""
    try:
        from assay import LiveMetrics
    except ImportError:
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path.append(os.path.join(here, '..', '..', 'clients', 'python'))
        try:
            from assay import LiveMetrics
        except ImportError:
            print('objcounter: no metrics: put clients/python of Assay on PYTHONPATH to have them', file=sys.stderr)
            return NoMetrics()
    return LiveMetrics({'fps': LiveMetrics.METRIC_RATE, 'latency': LiveMetrics.METRIC_TIMER,
                        'objects': LiveMetrics.METRIC_NUMBER})


class NoMetrics(object):
    def rate(self, name):
        pass

    def push(self, name, value):
        pass

    def start_timer(self, name):
        pass

    def stop_timer(self, name):
        pass


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--input', help='a video file or a folder of pictures; default: a drawn scene')
    parser.add_argument('--camera', help="the id of a node's camera in data-config.json, in place of --input")
    parser.add_argument('--frames', type=int, default=300, help='stop after so many (default 300)')
    parser.add_argument('--size', default='640x360', help='of the frames, WIDTHxHEIGHT (default 640x360)')
    parser.add_argument('--interval', type=float, default=0,
                        help='seconds from frame to frame; default 0: as fast as it goes')
    parser.add_argument('--threads', type=int, default=1, help='that OpenCV may use (default 1)')
    parser.add_argument('--use-cpu', action='store_true', help='do not use OpenCL, even where there is one')
    arguments = parser.parse_args()
    try:
        width, height = [int(n) for n in arguments.size.lower().split('x')]
        if width < 64 or height < 64 or arguments.frames < 1:
            raise ValueError
    except ValueError:
        parser.error('--size is WIDTHxHEIGHT, at least 64x64, and --frames at least 1')
    arguments.size = (width, height)
    return arguments


def frames_of(arguments):
    if arguments.camera is not None:
        return video_of(url_of(arguments.camera))
    if arguments.input is None:
        return Scene(arguments.frames, arguments.size)
    if os.path.isdir(arguments.input):
        return pictures_of(arguments.input)
    return video_of(arguments.input)


def url_of(camera):
    path = os.environ.get('WAGGLE_DATA_CONFIG_PATH', '/run/waggle/data-config.json')
    try:
        with open(path) as file:
            urls = {source['match'].get('id'): source['handler']['args']['url'] for source in json.load(file)}
    except OSError as error:
        sys.exit('no cameras: %s' % error)
    if camera not in urls:
        sys.exit('%s has no camera %s' % (path, camera))
    return urls[camera]


def pictures_of(folder):
    for name in sorted(os.listdir(folder)):
        if name.lower().endswith(PICTURES):
            picture = cv2.imread(os.path.join(folder, name))
            if picture is None:
                sys.exit('%s is not a picture that OpenCV can read' % os.path.join(folder, name))
            yield picture


def video_of(path):
    video = cv2.VideoCapture(path)
    if not video.isOpened():
        sys.exit('%s is not a video that OpenCV can read' % path)
    while True:
        good, picture = video.read()
        if not good:
            return
        yield picture


def count(frames, arguments, metrics):
    """Returns the number of frames seen and of animals counted."""
    detector = Detector(arguments.size)
    tracker = Tracker(arguments.size)
    seen = 0
    due = time.monotonic()
    try:
        for picture in frames:
            if (picture.shape[1], picture.shape[0]) != arguments.size:
                picture = cv2.resize(picture, arguments.size)
            metrics.start_timer('latency')
            objects = tracker.follow(detector.find(picture))
            metrics.stop_timer('latency')
            metrics.push('objects', objects)
            metrics.rate('fps')
            seen += 1
            if seen % 50 == 0:
                print('frame %d: %d animals in sight, %d so far' % (seen, objects, tracker.counted), flush=True)
            if seen == arguments.frames:
                break
            due += arguments.interval
            if arguments.interval > 0:
                time.sleep(max(0.0, due - time.monotonic()))
    except KeyboardInterrupt:
        print('interrupted')
    return seen, tracker.counted


def main():
    arguments = parse_arguments()
    cv2.setNumThreads(arguments.threads)
    cv2.ocl.setUseOpenCL(not arguments.use_cpu)
    frames = frames_of(arguments)
    seen, counted = count(frames, arguments, live_metrics())
    print('%d frames, %d animals' % (seen, counted))
    if isinstance(frames, Scene) and seen == arguments.frames:
        print('the scene has %d animals' % frames.animals)


if __name__ == '__main__':
    main()
