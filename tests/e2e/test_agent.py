# SPDX-License-Identifier: Apache-2.0
"""The node daemon: who runs is seen, named, counted and forgotten; what apps report is told."""
import http.client
import json
import socket
import subprocess
import sys
import time

import pytest
from agents import MB, Agent, send_lines
from conftest import BIN, CLIENT, wait_until


@pytest.fixture
def agent(tmp_path):
    agent = Agent(tmp_path)
    yield agent
    agent.end()


@pytest.fixture
def watching(tmp_path, dockerd):
    agent = Agent(tmp_path, dockerd)
    yield agent
    agent.end()


def test_a_container_has_its_names_and_counters(watching, dockerd):
    container = dockerd.run(dockerd.busybox(), "known_load", "1", "600", str(64 * MB))
    try:
        name = dockerd.get(f"/containers/{container}/json")["Name"].lstrip("/")
        wait_until(lambda: (watching.value("container_cpu_usage_seconds_total", name=name) or 0) > 1, 30,
                   "its name is known and it has used a second")
        labels = {"name": name, "image": dockerd.busybox()}
        assert watching.value("container_memory_working_set_bytes", **labels) == pytest.approx(64 * MB, rel=0.05)
        assert watching.value("container_processes", **labels) == 1
        assert watching.value("container_network_receive_bytes_total", **labels) is not None
        mine = [app for app in watching.apps() if app.get("container_id") == container]
        assert len(mine) == 1 and mine[0]["kind"] == "container" and mine[0]["running"]
    finally:
        dockerd.remove(container)
    wait_until(lambda: not [a for a in watching.apps() if a.get("container_id") == container and a["running"]], 10,
               "its end is seen")


def test_containers_of_half_a_second_are_seen_and_what_is_incomplete_is_marked(watching, dockerd):
    """How many are read to their end is for the bench to say: it depends on the machine's load."""
    containers = [dockerd.run(dockerd.busybox(), "known_load", "1", "0.3", str(20 * MB)) for _ in range(10)]
    try:
        def ended():
            mine = [app for app in watching.apps() if app.get("container_id") in containers]
            return mine if len(mine) == 10 and not any(app["running"] for app in mine) else None
        apps = wait_until(ended, 60, lambda: f"all ten have ended: {watching.apps()}")
        metrics = watching.metrics()
        for app in apps:
            if app.get("lower_bound"):
                continue
            used = [s.value for s in metrics["container_cpu_usage_seconds_total"] if s.labels["id"] == app["id"]]
            assert used[0] > 0.25, app
            assert app["memory_peak_bytes"] > 20 * MB, app
    finally:
        for container in containers:
            dockerd.remove(container)


# Podman's files where they are by default, for this process alone.
AT_HOME = """
mount -t tmpfs none /var/lib && mkdir -p /var/lib/containers/storage
mount --bind "$0" /var/lib/containers/storage
exec "$@"
"""


def test_a_container_of_podman_has_its_name(tmp_path, podman):
    container = podman.run(podman.busybox(), "sleep", "600")
    agent = Agent(tmp_path, within=["unshare", "--mount", "sh", "-ec", AT_HOME, podman.folder / "data"])
    try:
        name = podman.inspect(container)["Name"].lstrip("/")
        app = wait_until(lambda: next((a for a in agent.apps() if a.get("container_id") == container), None), 10, "seen")
        assert app["name"] == name and app["image"].endswith(podman.busybox())
    finally:
        podman.remove(container)
        agent.end()


def test_promtool_takes_the_text(watching, dockerd):
    container = dockerd.run(dockerd.busybox(), "sleep", "600")
    try:
        wait_until(lambda: any(a.get("container_id") == container for a in watching.apps()), 10, "it is seen")
        # node_exporter's names for the lines of /proc/meminfo are not to promtool's taste.
        text = "".join(line for line in watching.get("/metrics").splitlines(True) if "node_memory_" not in line)
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert watching.get("/metrics", Accept="application/openmetrics-text").endswith("# EOF\n")
    finally:
        dockerd.remove(container)


def test_an_app_of_the_old_library_shows_up_unchanged(agent):
    send_lines(agent.hooks, {"fps": {"value": 12.5, "timestamp": 1700000000.1}})
    wait_until(lambda: agent.value("assay_app_fps") == 12.5, 10, "its value is told")


REPORTING = """
from assay import LiveMetrics
metrics = LiveMetrics()
for i in range(200):
    with metrics.timer('latency'):
        pass
    metrics.push('objects', i)
metrics.close() if hasattr(metrics, 'close') else None
"""


def test_a_timer_of_the_python_client_is_a_histogram(agent):
    subprocess.run([sys.executable, "-c", REPORTING], check=True, timeout=60,
                   env={"ASSAY_SOCKET": str(agent.hooks), "PYTHONPATH": str(CLIENT)})
    wait_until(lambda: agent.value("assay_app_latency_seconds_count") == 200, 10,
               lambda: f"all 200 are counted: {agent.get('/metrics')}")
    wait_until(lambda: agent.value("assay_app_objects") == 199, 10, "the last one is told")


def test_ten_thousand_names_are_capped_counted_and_told(agent):
    before = agent.resident()
    now = time.time()
    send_lines(agent.hooks, *({f"name{i}": {"value": 1, "timestamp": now}} for i in range(10_000)))
    names = wait_until(lambda: [n for n in agent.metrics() if n.startswith("assay_app_name")], 10, "some are told")
    assert len(names) == 1000
    lost = agent.metrics()["assay_reports_lost_total"]
    assert sum(sample.value for sample in lost) == 9000, lost
    assert agent.resident() < before + 30 * MB


def test_a_hundred_clients_that_flood_do_not_stop_it(agent):
    clients = []
    line = json.dumps({"fps": {"value": 1, "timestamp": 1700000000}}).encode() + b"\n\n"
    try:
        for _ in range(100):
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(agent.hooks))
            client.setblocking(False)
            clients.append(client)
        for _ in range(20):
            for client in clients:
                try:
                    client.send(line * 200)
                except BlockingIOError:
                    pass
            assert agent.get("/healthz") == "ok\n"
    finally:
        for client in clients:
            client.close()
    assert agent.resident() < 60 * MB


def test_what_is_asked_wrongly_is_answered_plainly(agent):
    host, port = agent.address.split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    for method, path, status in (("GET", "/nothing", 404), ("POST", "/metrics", 405), ("GET", "/readyz", 200)):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status, (method, path)


def test_an_address_in_use_is_an_error_that_says_so(agent):
    done = subprocess.run([BIN / "assay-agent", "--listen", agent.address, "--docker", ""], text=True,
                          capture_output=True, timeout=30, check=False)
    assert done.returncode == 4 and agent.address in done.stderr and "in use" in done.stderr
