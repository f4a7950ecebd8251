# SPDX-License-Identifier: Apache-2.0
"""Opens a stream of data-config.json by the contract of pywaggle's `waggle.data.open_data_source`.

pywaggle itself is not in Debian; this reader stands for it in the tests. The contract: the file is
/run/waggle/data-config.json, or what WAGGLE_DATA_CONFIG_PATH names; an entry fits when, for every word
of the query, its `match` has a regular expression that fits from the start of the asked value; exactly
one entry must fit; its handler is called with `args`. A camera may also be looked up by the very text
of `match.id`.
"""
import json
import os
import pathlib
import re
import time
import urllib.request

import cv2
import numpy


class Image:
    """A picture for each get()."""

    def __init__(self, url):
        self.url = url

    def get(self):
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            data = answer.read()
        return time.time_ns(), cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)


class Video:
    """The next frame for each get(); None at the end."""

    def __init__(self, url):
        self.capture = cv2.VideoCapture(url)
        if not self.capture.isOpened():
            raise RuntimeError(f"no camera at {url}")

    def get(self):
        good, frame = self.capture.read()
        return (time.time_ns(), frame) if good else None


HANDLERS = {"image": Image, "video": Video}


def sections():
    path = pathlib.Path(os.environ.get("WAGGLE_DATA_CONFIG_PATH", "/run/waggle/data-config.json"))
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def open_data_source(**query):
    fitting = [s for s in sections()
               if all(key in s["match"] and re.match(s["match"][key], asked) for key, asked in query.items())]
    if len(fitting) != 1:
        raise LookupError(f"{len(fitting)} streams fit {query}, not one")
    handler = fitting[0]["handler"]
    return HANDLERS[handler["type"]](**handler["args"])


def url_of_camera(name):
    """By the text of its id, as `waggle.data.vision.Camera` looks it up."""
    return {s["match"]["id"]: s["handler"]["args"]["url"] for s in sections()}[name]
