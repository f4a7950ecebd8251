# SPDX-License-Identifier: Apache-2.0
"""The agent's config file, read again while it runs; tokens, and calls that change something."""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import pytest
from agents import Agent
from conftest import BIN, CLIENT, HERE, wait_until

READER = "reader-of-this-test-only"
BOSS = "boss-of-this-test-only"


class Configured(Agent):
    """An agent with a config file, which `write` changes."""

    def __init__(self, folder, text, *more, engine=None, **options):
        self.file = folder / "agent.yaml"
        self.write(text)
        super().__init__(folder, engine, "--config", self.file, *more, **options)

    def write(self, text):
        self.file.write_text(text, encoding="utf-8")

    def reload(self, text=None):
        if text is not None:
            self.write(text)
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture
def configured(tmp_path):
    started = []

    def start(text, *more, **options):
        started.append(Configured(tmp_path, text, *more, **options))
        return started[-1]
    yield start
    for agent in started:
        agent.end()


def write_token(folder, name, text, mode=0o600):
    file = folder / name
    file.write_text(text + "\n", encoding="ascii")
    file.chmod(mode)
    return file


def check(file):
    return subprocess.run([BIN / "assay-agent", "--check-config", file], text=True, capture_output=True, check=False,
                          timeout=30)


def test_the_example_of_deploy_is_right():
    done = check(HERE.parents[1] / "deploy/agent.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_a_wrong_file_is_told_line_by_line(tmp_path):
    file = tmp_path / "a.yaml"
    write_token(tmp_path, "open.token", READER, 0o644)
    file.write_text("intervl: 1s\nlisten: here\n")
    done = check(file)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"{file}:1: unknown key 'intervl'; did you mean 'interval'?\n{file}:2: listen:")
    file.write_text("tokens: [{file: open.token, roles: [read]}]\n")
    done = check(file)
    assert done.returncode == 2 and done.stderr.startswith(f"{tmp_path}/open.token: others than its owner may read")
    started = subprocess.run([BIN / "assay-agent", "--config", file], text=True, capture_output=True, check=False,
                             timeout=30)
    assert started.returncode == 2 and "open.token" in started.stderr


def test_the_command_line_wins_over_the_file(configured):
    agent = configured("own_share: 0.5\ninterval: 200ms\n", "--own-share", "0.25")
    assert agent.value("assay_agent_cpu_limit_ratio") == 0.25
    assert agent.value("assay_agent_interval_seconds") == 0.2


class Stream:
    """The event stream, over one connection."""

    def __init__(self, agent):
        host, port = agent.address.split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=10)
        self.connection.request("GET", "/api/v1/stream")
        self.answer = self.connection.getresponse()

    def event(self):
        line = self.answer.readline()
        assert line.startswith(b"data: "), line
        self.answer.readline()
        return json.loads(line[6:])


def test_a_reload_changes_what_can_change_and_names_the_rest(configured, tmp_path):
    agent = configured("interval: 200ms\nown_share: 0\n")
    stream = Stream(agent)
    first = stream.event()
    beats = agent.value("assay_agent_beats_total")
    assert agent.value("node_load1") is not None
    agent.reload("interval: 100ms\nown_share: 0.5\nfamilies: {node: false}\nlocation: {city: Chicago}\n"
                 f"targets_file: {tmp_path}/targets.json\n")
    agent.says("targets_file: takes a restart to change")
    agent.says("read its config file again")
    metrics = agent.metrics()
    assert metrics["assay_agent_interval_seconds"][0].value == 0.1
    assert metrics["assay_agent_cpu_limit_ratio"][0].value == 0.5
    assert "node_load1" not in metrics
    assert any("Chicago" in sample.labels.values() for samples in metrics.values() for sample in samples)
    assert metrics["assay_agent_beats_total"][0].value >= beats
    assert stream.event()["time"] > first["time"], "the connection goes on"


def test_a_bad_file_is_told_and_changes_nothing(configured):
    agent = configured("interval: 200ms\nown_share: 0\n")
    agent.reload("interval: 100ms\nlingr: 1s\n")
    agent.says(f"{agent.file}:2: unknown key 'lingr'; did you mean 'linger'?")
    agent.says("the config file was not taken: all stays as it was")
    assert agent.value("assay_agent_interval_seconds") == 0.2
    agent.file.unlink()
    agent.reload()
    agent.says("the config file was not taken", 2)
    agent.reload("interval: 500ms\n")
    agent.says("read its config file again")
    assert agent.value("assay_agent_interval_seconds") == 0.5


def test_without_a_file_a_hangup_ends_nothing(tmp_path):
    agent = Agent(tmp_path)
    agent.process.send_signal(signal.SIGHUP)
    agent.says("there is no config file to read again")
    assert agent.get("/healthz") == "ok\n"
    agent.end()


REPORTING = """
import sys
from assay import LiveMetrics
metrics = LiveMetrics()
for i in range(40):
    for _ in range(100):
        with metrics.timer('latency'):
            pass
    print(i, flush=True)
    sys.stdin.readline()
metrics.close() if hasattr(metrics, 'close') else None
"""


def test_no_report_is_lost_while_it_reads_its_file_again(configured):
    agent = configured("interval: 100ms\n")
    with subprocess.Popen([sys.executable, "-c", REPORTING], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env={"ASSAY_SOCKET": str(agent.hooks), "PYTHONPATH": str(CLIENT)}) as client:
        for i in range(40):
            assert client.stdout.readline() == f"{i}\n"
            agent.reload(f"interval: {100 + 10 * (i % 2)}ms\n")
            client.stdin.write("\n")
            client.stdin.flush()
    assert client.returncode == 0
    wait_until(lambda: agent.value("assay_app_latency_seconds_count") == 4000, 10,
               lambda: f"all are counted: {agent.value('assay_app_latency_seconds_count')}")
    assert not agent.metrics().get("assay_reports_lost_total")


def test_systemd_is_told_of_a_reload(configured, tmp_path):
    place = str(tmp_path / "notify.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(place)
        systemd.settimeout(10)
        agent = configured("interval: 1s\n", env={**os.environ, "NOTIFY_SOCKET": place})
        assert systemd.recv(1000) == b"READY=1"
        agent.reload()
        reloading = systemd.recv(1000).decode().split("\n")
        assert reloading[0] == "RELOADING=1" and reloading[1].startswith("MONOTONIC_USEC=")
        assert int(reloading[1].split("=")[1]) > 0
        assert systemd.recv(1000) == b"READY=1"


TOKENS = "tokens:\n- {file: reader.token, roles: [read]}\n- {file: boss.token, roles: [goals, limits]}\n"


@pytest.fixture
def tokens(tmp_path):
    """A config with two tokens, whose files are there."""
    write_token(tmp_path, "reader.token", READER)
    write_token(tmp_path, "boss.token", BOSS)
    return TOKENS


@pytest.fixture
def guarded(configured, tokens):
    return configured(tokens)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_changing_takes_a_token_with_the_role(guarded):
    goals = {"app": "nobody", "goals": ["fps >= 10"]}
    assert guarded.ask("PUT", "/api/v1/goals", goals)[0] == 401
    assert guarded.ask("PUT", "/api/v1/goals", goals, **bearer("wrong-wrong-wrong-wrong"))[0] == 401
    assert guarded.ask("PUT", "/api/v1/goals", goals, **bearer(READER)) == (
        403, {"error": "this token lacks the role goals"})
    status, answer = guarded.ask("PUT", "/api/v1/goals", goals, **bearer(BOSS))
    assert (status, answer["error"]) == (404, "no app 'nobody' runs here; see /api/v1/apps")
    assert guarded.ask("PUT", "/api/v1/goals", goals, over_socket=True)[0] == (404 if os.geteuid() == 0 else 401)
    assert guarded.ask("PUT", "/api/v1/goals", "x" * 70_000, **bearer(BOSS))[0] == 413
    assert guarded.ask("PUT", "/api/v1/goals", "nonsense", **bearer(BOSS))[0] == 422
    assert BOSS not in guarded.log.read_text()


def test_what_a_caller_sets_holds_within_the_bounds_and_is_told(configured, tokens, dockerd):
    agent = configured(tokens + "act: {cores: {most: 1}}\n", engine=dockerd)
    container = dockerd.run(dockerd.busybox(), "sleep", "600")

    def mine():
        return next((app for app in agent.apps() if app.get("container_id") == container), {})

    def put(what, **body):
        return agent.ask("PUT", f"/api/v1/{what}", {"app": container[:12], **body}, **bearer(BOSS))
    try:
        app = wait_until(lambda: mine().get("id"), 10, "it is seen")
        assert put("limits", cores=0.5) == (200, {"app": app})
        wait_until(lambda: dockerd.get(f"/containers/{container}/json")["HostConfig"]["CpuQuota"] == 50_000, 10,
                   lambda: f"its limit is set: {agent.log.read_text()}")
        status, answer = put("limits", cores=2)
        assert (status, answer["error"]) == (422, "cores: 2 is not within the operator's bounds, 0.1 to 1")
        assert put("goals", goals=["fps >= 10"])[0] == 200
        wait_until(lambda: mine().get("goals"), 10, "its goal is known")
        assert mine()["goals"][0]["goal"] == "fps >= 10"
        assert put("interval", interval="100ms") == (403, {"error": "this token lacks the role captures"})
    finally:
        dockerd.remove(container)
    agent.says(f"{app} by boss.token (limits): limits 0.5 cores")
    agent.says(f"{app} by boss.token (limits): limits 2 cores; refused: cores: 2 is not within")
    agent.says(f"{app} by boss.token (goals): goals 'fps >= 10'")


def test_tokens_change_with_a_reload_and_a_bad_one_changes_nothing(guarded, tmp_path):
    goals = {"app": "nobody", "goals": []}
    write_token(tmp_path, "boss.token", "another-secret-of-this-test")
    guarded.reload()
    guarded.says("read its config file again")
    assert guarded.ask("PUT", "/api/v1/goals", goals, **bearer(BOSS))[0] == 401
    assert guarded.ask("PUT", "/api/v1/goals", goals, **bearer("another-secret-of-this-test"))[0] == 404
    write_token(tmp_path, "boss.token", BOSS, 0o644)
    guarded.reload()
    guarded.says("others than its owner may read")
    assert guarded.ask("PUT", "/api/v1/goals", goals, **bearer("another-secret-of-this-test"))[0] == 404


PUT = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
body = b'{"app": "nobody", "goals": []}'
client.sendall(b"PUT /api/v1/goals HTTP/1.0\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
print(client.recv(100).split()[1].decode())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces, which takes root")
def test_root_of_a_container_is_not_root_of_the_machine(agent):
    def status(*within):
        return subprocess.run([*within, sys.executable, "-c", PUT, agent.socket], text=True, capture_output=True,
                              check=True, timeout=30).stdout.strip()
    assert status() == "404", "there is no such app"
    assert status("unshare", "--pid", "--fork") == "401"


def test_a_page_of_somebody_else_gets_nothing(agent):
    for headers in ({"Host": "evil.example:9410"}, {"Origin": "https://evil.example"}):
        status, answer = agent.ask("GET", "/api/v1/apps", **headers)
        assert (status, answer) == (403, {"error": "web pages of others may not ask here"}), headers
    assert agent.ask("GET", "/api/v1/apps", Host="localhost:9410")[0] == 200


@pytest.fixture
def agent(tmp_path):
    agent = Agent(tmp_path)
    yield agent
    agent.end()


ASKED = """
import sys, urllib.request, urllib.error
headers = {"Authorization": "Bearer " + sys.argv[2]} if sys.argv[2] else {}
try:
    print(urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers=headers), timeout=10).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a network of its own, which takes root")
def test_over_the_network_reading_takes_a_token(configured, tokens):
    # An address of a network that nobody else is in, and that is not the loopback's own.
    network = ("unshare", "-n", "sh", "-c",
               'ip link set lo up && ip address add 10.99.0.1/32 dev lo && exec "$@"', "sh")
    agent = configured(tokens, "--listen", "10.99.0.1:9410", within=network)

    def status(path, token=""):
        done = subprocess.run(["nsenter", "-t", str(agent.process.pid), "-n", sys.executable, "-c", ASKED,
                               f"http://10.99.0.1:9410{path}", token], text=True, capture_output=True, check=True,
                              timeout=30)
        return int(done.stdout)
    assert status("/metrics") == 401
    assert status("/metrics", READER) == 200
    assert status("/api/v1/apps", BOSS) == 403
    assert status("/healthz") == 200


def test_the_unit_of_systemd_starts_and_reloads_it():
    unit = (pathlib.Path(HERE).parents[1] / "deploy/systemd/assay-agent.service").read_text(encoding="utf-8")
    assert "--config /etc/assay/agent.yaml" in unit and "ExecReload=/bin/kill -HUP $MAINPID" in unit
