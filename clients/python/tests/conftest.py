# SPDX-License-Identifier: Apache-2.0
import json
import os
import socket
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GREETING = b'{}\n\n'


class Profiler(object):
    """A real socket at the other end; reads only when asked."""

    def __init__(self, path):
        self.path = str(path)
        self.connections = []
        self._listener = None
        self.start()

    def start(self):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(8)
        self._listener.settimeout(10)

    def die(self):
        for connection in self.connections:
            connection.close()
        self.connections = []
        self._listener.close()
        os.unlink(self.path)

    def accept(self):
        connection = self._listener.accept()[0]
        connection.settimeout(10)
        assert connection.recv(len(GREETING)) == GREETING
        self.connections.append(connection)
        return connection

    def read_all(self):
        """All messages of one client, up to the end of its connection."""
        connection = self.accept()
        data = b''
        while True:
            piece = connection.recv(65536)
            if not piece:
                break
            data += piece
        assert data.endswith(b'\n\n') or not data
        return [json.loads(text) for text in data.decode().split('\n\n') if text]

    def values(self, name):
        return [m[name]['value'] for m in self.read_all() if name in m]


@pytest.fixture
def profiler(tmp_path):
    made = Profiler(tmp_path / 's')
    yield made
    if os.path.exists(made.path):
        made.die()


@pytest.fixture
def clock(monkeypatch):
    """Time that moves by hand, for the client alone."""
    from assay import _sender, live_metrics

    class Clock(object):
        now = 1000.0

        def monotonic(self):
            return self.now

        perf_counter = monotonic

        def time(self):
            return 1700000000.0 + self.now

    made = Clock()
    monkeypatch.setattr(_sender, 'time', made)
    monkeypatch.setattr(live_metrics, 'time', made)
    monkeypatch.setattr(live_metrics, '_now_ns', lambda: int(made.now * 1e9))
    return made
