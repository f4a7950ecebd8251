# SPDX-License-Identifier: Apache-2.0
"""A real `assay-agent` for tests."""
import http.client
import json
import socket
import subprocess
import urllib.request

from conftest import BIN, wait_until
from prometheus_client.parser import text_string_to_metric_families

MB = 1 << 20


class Agent:
    """`assay-agent` with its own addresses."""

    def __init__(self, folder, engine=None, *more, within=(), env=None):
        self.hooks = folder / "hooks.sock"
        self.socket = folder / "agent.sock"
        self.log = folder / "agent.log"
        docker = str(engine.socket) if engine else ""
        if "--listen" not in more:
            more = ("--listen", "127.0.0.1:0", *more)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*within, BIN / "assay-agent", "--hooks", self.hooks, "--docker", docker, "--socket", self.socket, *more],
                stdin=subprocess.DEVNULL, stderr=log, env=env)
        said = wait_until(lambda: str(self.socket) in self.log.read_text() and self.log.read_text(), 30, "it listens")
        self.address = said.split("listening at ")[1].split()[0]

    def get(self, path, **headers):
        request = urllib.request.Request(f"http://{self.address}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def ask(self, method, path, body=None, over_socket=False, **headers):
        """Status and JSON of the answer."""
        host, port = self.address.rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=10)
        if over_socket:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(str(self.socket))
        connection.request(method, path, body if isinstance(body, (bytes, str)) else json.dumps(body),
                           {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else text

    def metrics(self):
        """Samples by name, as others read them."""
        found = {}
        for family in text_string_to_metric_families(self.get("/metrics")):
            for sample in family.samples:
                found.setdefault(sample.name, []).append(sample)
        return found

    def value(self, series, **labels):
        """Of the only series that has these labels; nothing while there is none."""
        fits = [s for s in self.metrics().get(series, []) if all(s.labels.get(k) == v for k, v in labels.items())]
        assert len(fits) <= 1, fits
        return fits[0].value if fits else None

    def apps(self):
        return json.loads(self.get("/api/v1/apps"))["apps"]

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def says(self, text, count=1):
        """Waits until its log has this text so often."""
        wait_until(lambda: self.log.read_text().count(text) >= count, 10, lambda: f"{text}: {self.log.read_text()}")

    def end(self):
        self.process.terminate()
        assert self.process.wait(10) == 0, self.log.read_text()


def send_lines(path, *messages):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        for message in messages:
            client.sendall(json.dumps(message).encode() + b"\n\n")
        client.shutdown(socket.SHUT_WR)
        client.recv(1)  # the agent has read all of it when it closes
