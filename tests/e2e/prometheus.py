# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus for tests."""
import json
import subprocess
import urllib.parse
import urllib.request

from conftest import wait_until
from ports import free_port


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


class Prometheus:
    """Debian's, in a folder of its own and always on the same port."""

    def __init__(self, folder, config):
        self.folder = folder
        self.address = f"127.0.0.1:{free_port()}"
        (folder / "prometheus.yml").write_text(config)
        self.process = None

    def start(self):
        with (self.folder / "prometheus.log").open("a") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address={self.address}",
                 "--web.enable-remote-write-receiver"], stderr=log)
        wait_until(self.is_ready, 120, (self.folder / "prometheus.log").read_text)

    def is_ready(self):
        try:
            return get(f"http://{self.address}/-/ready")
        except OSError:
            return None

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def series(self, expression):
        """What an instant query finds: [(labels, value or [[time, value], ...])]."""
        answer = json.loads(get(f"http://{self.address}/api/v1/query?query={urllib.parse.quote(expression)}"))
        return [(one["metric"], one.get("value") or one["values"]) for one in answer["data"]["result"]]

    def samples(self, name):
        """Of the only series of that name, if there is one: times and values."""
        found = self.series(f"{name}[10m]")
        assert len(found) <= 1, found
        values = found[0][1] if found else []
        return [time for time, _ in values], [float(value) for _, value in values]
