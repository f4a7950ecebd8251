# SPDX-License-Identifier: Apache-2.0
"""The node daemon and a real Prometheus: what is pushed arrives whole and in order, whoever is killed, and the file of
targets leads to it."""
import json
import re
import signal
import socket
import subprocess

import pytest
from conftest import BIN, wait_until
from prometheus import Prometheus, get

PASSES = "assay_agent_remote_write_passes_total"
CONFIG = """
scrape_configs:
  - job_name: assay
    scrape_interval: 1s
    scrape_timeout: 1s
    file_sd_configs: [{files: [targets.json]}]
"""


class Agent:
    """`assay-agent` that can be killed and started again."""

    def __init__(self, folder, *options):
        self.log = folder / "agent.log"
        self.options = options
        self.process = None
        self.address = ""

    def start(self):
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [BIN / "assay-agent", "--listen", "127.0.0.1:0", "--docker", "", *self.options], stderr=log)
        self.address = wait_until(lambda: re.search(r"listening at (\S+:\d+)", self.log.read_text()), 20,
                                  self.log.read_text)[1]

    def value(self, name):
        found = re.search(rf"^{name} (\S+)$", get(f"http://{self.address}/metrics"), re.MULTILINE)
        return float(found[1]) if found else 0

    def has_libcurl(self):
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            return "libcurl" in maps.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(10) == 0, self.log.read_text()
        self.process = None


@pytest.fixture
def prometheus(tmp_path):
    prometheus = Prometheus(tmp_path, CONFIG)
    prometheus.start()
    yield prometheus
    prometheus.kill()


@pytest.fixture
def agent(tmp_path):
    """Makes agents, and ends those that still run."""
    made = []

    def make(*options):
        made.append(Agent(tmp_path, *options))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        if one.process:
            one.end()


def pushing(agent, prometheus, folder):
    return agent("--remote-write", f"http://{prometheus.address}/api/v1/write", "--queue", folder / "queue",
                 "--push-interval", "200ms")


def wait_for_passes(prometheus, least):
    wait_until(lambda: max(prometheus.samples(PASSES)[1][-1:], default=0) >= least, 20,
               lambda: f"{least} passes have arrived: {prometheus.samples(PASSES)}")


def wait_queued(agent, passes):
    """So many passes more are made; gives the number of the last one."""
    last = agent.value(PASSES) + passes
    wait_until(lambda: agent.value(PASSES) >= last, 20, "they are made")
    assert agent.value("assay_agent_remote_write_queued_samples") > 0
    return last


def test_a_prometheus_that_is_killed_and_comes_back_misses_nothing(agent, prometheus, tmp_path):
    daemon = pushing(agent, prometheus, tmp_path)
    wait_for_passes(prometheus, 3)
    prometheus.kill()
    last = wait_queued(daemon, 5)
    prometheus.start()
    wait_for_passes(prometheus, last + 3)
    times, passes = prometheus.samples(PASSES)
    assert times == sorted(set(times))
    assert passes == list(range(0, len(passes))), "each pass once, in order"
    assert daemon.value("assay_agent_remote_write_retries_total") > 0
    assert "works again" in daemon.log.read_text()
    assert daemon.has_libcurl()
    labels = prometheus.series(PASSES)[0][0]
    assert labels["instance"] == socket.gethostname() and labels["job"] == "assay"
    assert prometheus.series("node_cpu_seconds_total{mode='idle',cpu='0'}")


def test_an_agent_that_is_killed_while_prometheus_is_away_misses_nothing(agent, prometheus, tmp_path):
    daemon = pushing(agent, prometheus, tmp_path)
    wait_for_passes(prometheus, 2)
    prometheus.kill()
    last = wait_queued(daemon, 5)
    daemon.kill()
    daemon.start()
    wait_queued(daemon, 2)
    prometheus.start()
    wait_until(lambda: daemon.value("assay_agent_remote_write_queued_samples") == 0, 20, "all is sent")
    times, passes = prometheus.samples(PASSES)
    assert times == sorted(set(times))
    second = passes.index(0, 1)
    assert passes[:second] == list(range(0, second)) and second >= last
    assert passes[second:] == list(range(0, len(passes) - second))


def test_the_file_of_targets_leads_prometheus_to_the_agent(agent, prometheus, tmp_path):
    targets = tmp_path / "targets.json"
    daemon = agent("--targets-file", targets)
    found = wait_until(lambda: prometheus.series("assay_agent_apps"), 20, "it is scraped")
    assert found[0][0]["instance"] == socket.gethostname()
    assert not daemon.has_libcurl(), "it is for those who push"
    assert json.loads(targets.read_text())[0]["targets"] == [daemon.address]
    daemon.end()
    assert not targets.exists()


def test_without_a_folder_for_the_queue_it_says_what_to_do():
    done = subprocess.run([BIN / "assay-agent", "--listen", "127.0.0.1:0", "--remote-write", "http://127.0.0.1:1/"],
                          env={}, text=True, capture_output=True, timeout=30, check=False)
    assert done.returncode == 2 and "--queue" in done.stderr
