#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""read_mjpeg.py URL SECONDS: reads an MJPEG stream as fast as it comes, and prints how many frames came.

Frames are counted by their lengths, so that nothing of them needs to be looked at.
"""
import json
import socket
import sys
import time
import urllib.parse


class Stream:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port))
        self.socket.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
        self.room = bytearray(1 << 20)
        self.begun = b""

    def head(self):
        while b"\r\n\r\n" not in self.begun:
            self.begun += self.socket.recv(4096)
        head, _, self.begun = self.begun.partition(b"\r\n\r\n")
        return head

    def skip(self, size):
        here = min(size, len(self.begun))
        self.begun, size = self.begun[here:], size - here
        while size:
            got = self.socket.recv_into(self.room, min(size, len(self.room)))
            if not got:
                raise EOFError
            size -= got

    def frame(self):
        """The size of the next one."""
        size = int(self.head().lower().split(b"content-length:")[1].split(b"\r\n")[0])
        self.skip(size + 2)
        return size


def main(url, seconds):
    stream = Stream(url)
    stream.head()
    stream.frame()
    begin = last = time.monotonic()
    gaps, size = [], 0
    while last - begin < seconds:
        size += stream.frame()
        now = time.monotonic()
        gaps.append(now - last)
        last = now
    print(json.dumps({"frames": len(gaps), "bytes": size, "seconds": last - begin, "longest_gap": max(gaps)}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
