# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that tests start."""
import contextlib
import random
import socket


def free_port():
    """None that the kernel gives away by itself, which somebody else might have by the time it is taken, or again."""
    for port in random.sample(range(20000, 30000), 1000):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")
