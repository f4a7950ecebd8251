# SPDX-License-Identifier: Apache-2.0
"""The node daemon compares apps with their goals, tells what is wrong and, when it may, changes their limits."""
import contextlib
import json
import os
import pathlib
import random
import time

import pytest
from agents import Agent
from conftest import wait_until

CORES = len(os.sched_getaffinity(0))
WELL = {"meets", "idle-rich"}
EVERY = 0.5  # seconds: who asks more often takes from those who are watched


@contextlib.contextmanager
def frames(engine, agent, goal, cost_ms, **host):
    """A container that works on frames with all cores, each of which costs so many milliseconds of one."""
    container = engine.run(
        engine.busybox(), "frames_load", str(CORES), str(cost_ms), Labels={"assay.goals": goal},
        Env=["ASSAY_SOCKET=/metrics/hooks.sock"], HostConfig={"Binds": [f"{agent.hooks.parent}:/metrics"], **host})
    try:
        yield container
    finally:
        engine.remove(container)


def app_of(agent, container):
    return next((app for app in agent.apps() if app.get("container_id") == container), {})


def advice(agent):
    return json.loads(agent.get("/api/v1/advice"))


def quota(engine, container):
    """Cores that Docker knows as its limit; 0: none."""
    config = engine.inspect(container)["HostConfig"]
    if config["NanoCpus"]:
        return config["NanoCpus"] / 1e9
    return max(0, config["CpuQuota"]) / (config["CpuPeriod"] or 100000)


@pytest.fixture
def acting(tmp_path, dockerd):
    agent = Agent(tmp_path, dockerd, "--act", "--own-share", "0")
    yield agent
    if agent.process.poll() is None:
        agent.end()


@contextlib.contextmanager
def favoured(engine, container):
    """The engine's containers together come before most of what else this machine is busy with."""
    pid = engine.state(container)["Pid"]
    before = {}
    for line in pathlib.Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for folder, file, weight in (("cpu", "cpu.shares", 65536), ("cpu,cpuacct", "cpu.shares", 65536),
                                     ("", "cpu.weight", 6000)):
            share = pathlib.Path("/sys/fs/cgroup", folder, path[1:]).parent / file
            if controllers in (folder, "") and share.exists():
                before[share] = share.read_text()
                share.write_text(str(weight))
    try:
        yield
    finally:
        for share, text in before.items():
            share.write_text(text)


def contend(engine, agent):
    """Two apps that take every core. One needs ten frames a second and two thirds of the machine for it, the other
    would do with one frame and makes thirty. Gives the seconds after which both reach their goals."""
    loads = [("fps >= 10", 65 * CORES), ("fps >= 1", CORES / 2 / 30 * 1000)]
    random.shuffle(loads)
    with contextlib.ExitStack() as stack:
        began = time.monotonic()
        apps = [stack.enter_context(frames(engine, agent, *load)) for load in loads]
        stack.enter_context(favoured(engine, apps[0]))
        # They reach their goals only after one of them was seen to miss it.
        wait_until(lambda: "for lack of CPU" in agent.log.read_text(), 60, agent.log.read_text, EVERY)
        wait_until(lambda: all(app_of(agent, app).get("verdict") in WELL for app in apps), 90, agent.log.read_text, EVERY)
        return time.monotonic() - began, [quota(engine, app) for app in apps]


def test_one_that_has_too_much_gives_to_one_that_has_too_little(acting, dockerd):
    took, limits = contend(dockerd, acting)
    assert took < 60, acting.log.read_text()
    assert min(limits) == 0 and 0 < max(limits) < CORES / 2, limits
    steps = [action for action in advice(acting)["actions"] if action["kind"] == "lower"]
    assert steps and all("misses fps >= 10" in step["reason"] for step in steps), steps
    assert acting.value("assay_agent_steps_total", kind="lower") == len(steps)


def test_what_was_changed_is_put_back_at_the_end(acting, dockerd):
    with frames(dockerd, acting, "fps >= 1000", 20, CpuQuota=20000, CpuPeriod=100000) as starved:
        wait_until(lambda: quota(dockerd, starved) > 0.2, 60, acting.log.read_text, EVERY)
        acting.end()
        assert quota(dockerd, starved) == 0.2


def test_what_a_killed_one_had_changed_is_put_back_by_the_next(tmp_path, dockerd):
    state = tmp_path / "state"
    state.mkdir()
    agent = Agent(tmp_path, dockerd, "--act", env={**os.environ, "STATE_DIRECTORY": str(state)})
    with frames(dockerd, agent, "fps >= 1000", 20, NanoCpus=200_000_000) as starved:
        wait_until(lambda: quota(dockerd, starved) > 0.2, 60, agent.log.read_text, EVERY)
        agent.process.kill()
        agent.process.wait(10)
        again = Agent(tmp_path, dockerd, env={**os.environ, "STATE_DIRECTORY": str(state)})
        wait_until(lambda: quota(dockerd, starved) == 0.2, 30, again.log.read_text, EVERY)
        again.end()
    assert list(state.iterdir()) == []


def test_without_leave_to_act_it_only_tells(tmp_path, dockerd):
    advice_file = tmp_path / "data.ndjson"
    config = tmp_path / "agent.yaml"
    config.write_text(f"advice_file: {advice_file}\n")
    agent = Agent(tmp_path, dockerd, "--config", config)
    try:
        with frames(dockerd, agent, "fps >= 1000, latency.p95 <= 5ms", 20, NanoCpus=200_000_000) as starved:
            app = wait_until(lambda: app_of(agent, starved).get("verdict") == "starved" and app_of(agent, starved), 60,
                             agent.log.read_text, EVERY)
            assert app["goals"][0]["met"] is False and app["goals"][0]["value"] < 1000
            assert "met" not in app["goals"][1], "nothing is known about its latency"
            assert app["advice"][0]["resource"] == "cpu" and "its limit of 0.20 cores" in app["advice"][0]["sentence"]
            assert agent.value("assay_app_verdict", verdict="starved", resource="cpu", id=app["id"]) == 1
            assert agent.value("assay_app_goal_met", goal="fps >= 1000", id=app["id"]) == 0
            line = json.loads(advice_file.read_text().splitlines()[-1])
            assert (line["name"], line["value"]) == ("assay.verdict", "starved")
            assert line["meta"]["container_id"] == starved
            assert quota(dockerd, starved) == 0.2
            assert advice(agent)["actions"] == []
    finally:
        agent.end()
