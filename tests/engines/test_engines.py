# SPDX-License-Identifier: Apache-2.0
"""The engines of the tests do what the tests rely on, and leave nothing behind."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import types
import urllib.request

import engines
import pytest
from engines import dockerd, podman  # noqa: F401 (fixtures)

HERE = pathlib.Path(__file__).resolve().parent
OWNER = """
import json, sys, time
import engines
engine = getattr(engines, "start_" + sys.argv[1])()
engine.call("POST", f"/containers/{engine.run(engine.busybox(), 'sleep', '600')}/pause")
engine.run(engine.busybox(), "sh", "-c", "trap '' TERM INT; while :; do sleep 1; done")
_, made = engine.call("POST", "/networks/create", {"Name": "near"})
links = {"dockerd": lambda: "br-" + made["Id"][:12], "podman": lambda: json.loads(
    (engine.folder / "networks/near.conflist").read_text())["plugins"][0]["bridge"]}
engine.run(engine.busybox(), "sleep", "600", HostConfig={"NetworkMode": "near"})
print(engine.folder, links[sys.argv[1]](), flush=True)
time.sleep(600)
"""


def wait_until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.05)


def fetch(url):
    """Its bytes; none while nobody answers."""
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as answer:
            return answer.read()
    except OSError:
        return b""


@pytest.fixture(params=["dockerd", "podman"])
def engine(request):
    return request.getfixturevalue(request.param)


def test_a_disk_that_is_nearly_full_is_told(monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("a container engine of its own needs root")
    monkeypatch.setattr(engines.shutil, "disk_usage", lambda _: types.SimpleNamespace(free=2.5e9))
    with pytest.raises(pytest.fail.Exception, match="has 2.5 GB left, and a container engine of the tests needs 3 GB"):
        engines.start_dockerd()


def test_a_container_writes_and_ends(engine):
    container = engine.run(engine.busybox(), "sh", "-c", "echo out; echo err >&2; exit 3")
    assert engine.wait(container) == 3
    assert engine.output(container) == ("out\n", "err\n")
    assert engine.remove(container) == 204


def test_the_host_reaches_a_container(engine):
    container = engine.run(engine.busybox(), "httpd", "-f", "-p", "8000", "-h", "/etc")
    address = engine.inspect(container)["NetworkSettings"]["IPAddress"]
    wait_until(lambda: fetch(f"http://{address}:8000/passwd").startswith(b"root:"), "the container answers")
    engine.remove(container)


def test_an_image_may_be_for_another_machine(engine):
    assert engine.get(f"/images/{engine.arm64()}/json")["Architecture"] == "arm64"


def test_a_killed_engine_starts_again(engine):
    container = engine.run(engine.busybox(), "sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.1; done")
    process = engine.state(container)["Pid"]
    engine.kill()
    assert not engine.answers()
    assert pathlib.Path(f"/proc/{process}").exists()
    engine.start()
    assert engine.state(container)["Status"] == {"dockerd": "exited", "podman": "running"}[engine.name]
    engine.remove(container)


def mentions(folder, link):
    """Processes, mounts, groups and bridges of the engine in this folder."""
    found = [entry.name for entry in pathlib.Path("/proc").iterdir()
             if entry.name.isdigit() and folder.encode() in read(entry / "cmdline")]
    found += [line for line in read(pathlib.Path("/proc/self/mountinfo")).decode().splitlines() if folder in line]
    found += [name for name in os.listdir("/sys/class/net") if name == link or name.endswith(folder[-8:])]
    return found + list(pathlib.Path("/sys/fs/cgroup").glob(f"*/{pathlib.Path(folder).name}"))


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("name", ["dockerd", "podman"])
def test_nothing_is_left_when_the_tests_are_killed(name):
    if os.geteuid() != 0:
        pytest.skip("a container engine of its own needs root")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, name], cwd=HERE, stdout=subprocess.PIPE, text=True)
    folder, link = owner.stdout.readline().split()
    assert link in mentions(folder, link)
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    wait_until(lambda: not pathlib.Path(folder).exists() and not mentions(folder, link), "all of the engine is gone")
