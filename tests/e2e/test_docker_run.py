# SPDX-License-Identifier: Apache-2.0
"""An image is profiled as a process is: same document, same limits, same end, nothing left behind."""
import json
import os

import jsonschema
import pytest
from conftest import HERE, wait_until
from containers import MB, TICKING, boxed, engine, is_ticking, log, spec, use  # noqa: F401 (fixtures)

SCHEMA = json.loads((HERE.parents[1] / "docs/session.schema.json").read_text(encoding="utf-8"))


def test_an_image_runs_with_its_arguments_and_environment(boxed, engine):
    words = ["sh", "-c", 'echo "$COLOUR $1"; echo trouble >&2', "sh", "two words"]
    path = spec(boxed, engine.busybox(), {"args": words, "env": {"COLOUR": "blue"}})
    document = boxed.json("run", "--json", path)
    run = document["runs"][0]
    assert run["status"] == "finished" and run["exit"]["code"] == 0
    assert run["runtime"] == "docker" and run["isolation"].startswith("cgroup")
    assert log(document, 1) == "blue two words\n" and log(document, 1, "stderr") == "trouble\n"
    jsonschema.validate(document, SCHEMA)


def test_a_run_of_an_image_looks_as_one_of_a_process(boxed, engine):
    process = boxed.run("--", "busybox", "sleep", "1.5")
    container = boxed.run(spec(boxed, engine.busybox(), ["sleep", "1.5"]))
    assert set(process) <= set(container)
    assert set(process["footprint"]) <= set(container["footprint"])


def test_an_app_that_fails_tells_its_code(boxed, engine):
    run = boxed.run(spec(boxed, engine.busybox(), ["sh", "-c", "exit 7"]), expect=3)
    assert run["status"] == "failed" and run["exit"]["code"] == 7


def test_a_command_that_the_image_lacks_is_told(boxed, engine):
    done = boxed.assay("run", spec(boxed, engine.busybox(), ["no-such-command"]))
    assert done.returncode == 3, done.stderr
    assert "the image has no program 'no-such-command'" in done.stdout + done.stderr


def test_words_behind_dashes_are_the_images_arguments(boxed, engine):
    document = boxed.json("run", "--json", engine.busybox(), "--", "echo", "two words")
    assert log(document, 1) == "two words\n"


def test_an_app_that_ends_before_its_link_is_limited_has_run(boxed, engine):
    run = boxed.run(spec(boxed, engine.busybox(), {"args": ["true"], "resources": {"network": {"rate": "2mbit"}}}))
    assert run["status"] == "finished"


def test_an_app_of_a_moment_is_not_said_to_need_cores(boxed, engine):
    """Its container's start has more CPU time than itself. On a busy machine also `true` may take longer."""
    for _ in range(10):
        run = boxed.run(spec(boxed, engine.busybox(), ["true"]))
        assert run["status"] == "finished" and run["duration_seconds"] > 0
        if run["duration_seconds"] < 0.25:
            break
    if run["duration_seconds"] >= 0.25:
        pytest.skip("the machine is too busy to run `true` in a moment")
    assert "cpu_cores" not in run["footprint"] and "core" not in run["answer"]


def test_a_good_target_beside_one_that_runs_out_of_memory(boxed, engine):
    """And the order is kept: the second says that it was killed, the third runs as if nothing had been."""
    load = ["known_load", "1", "0.5", str(100 * MB)]
    later = ["sh", "-c", f"sleep 1; exec {' '.join(load)}"]  # seen before it is killed, however busy the machine
    document = boxed.json("run", "--json", spec(
        boxed, engine.busybox(), {"name": "enough", "args": load, "resources": {"memory": "200MB"}},
        {"name": "too little", "args": later, "resources": {"memory": "50MB"}}, {"name": "unlimited", "args": load}),
        expect=3)
    assert [run["status"] for run in document["runs"]] == ["finished", "oom", "finished"]
    assert document["runs"][1]["exit"]["oom_killed"] is True
    assert document["runs"][0]["footprint"]["memory_bytes"]["peak"] == pytest.approx(100 * MB, rel=0.05)
    assert document["runs"][1]["footprint"]["memory_bytes"]["peak"] <= 50e6 * 1.03


def test_a_limit_of_cores_holds(boxed, engine):
    """On a busy machine it may get less than that, so the kernel is asked for the limit too."""
    told = "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null"
    load = {"args": ["sh", "-c", f"{told}; exec known_load 2 1 0"], "resources": {"cpus": 0.5}}
    document = boxed.json("run", "--json", spec(boxed, engine.busybox(), load))
    assert 0 < document["runs"][0]["footprint"]["cpu_cores"]["mean"] < 0.55
    assert log(document, 1).startswith("50000"), "of a period of 100000 microseconds"


def test_a_limit_of_processes_holds(boxed, engine):
    many = "for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait"
    document = boxed.json("run", "--json", spec(
        boxed, engine.busybox(), {"args": ["sh", "-c", many], "resources": {"pids": 5}}), expect=3)
    assert "fork" in log(document, 1, "stderr")


def test_a_run_that_ignores_signals_is_killed_at_its_timeout(boxed, engine):
    stubborn = "trap 'echo INT' INT; trap 'echo TERM' TERM; echo ready; while :; do sleep 0.1; done"
    document = boxed.json("run", "--json", "--timeout", "1s", "--grace", "1s",
                          spec(boxed, engine.busybox(), ["sh", "-c", stubborn]))
    assert document["runs"][0]["status"] == "timeout"
    assert document["runs"][0]["exit"]["signal"] == 9
    assert log(document, 1).split() == ["ready", "INT", "TERM"]


def test_ctrl_c_stops_the_container_and_keeps_the_session(boxed, engine):
    process = boxed.start("run", spec(boxed, engine.busybox(), TICKING))
    is_ticking(boxed, engine)
    process.send_signal(2)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert [run["status"] for run in boxed.last()["runs"]] == ["interrupted"]


def test_more_output_than_pipes_hold_is_kept_whole(boxed, engine):
    document = boxed.json("run", "--json", spec(
        boxed, engine.busybox(), ["sh", "-c", "seq 1 300000; seq 1 100 >&2"]))
    assert log(document, 1).split() == [str(n) for n in range(1, 300001)]
    assert log(document, 1, "stderr").split() == [str(n) for n in range(1, 101)]


def test_the_dataset_is_there_and_cannot_be_changed(boxed, engine):
    (boxed.folder / "pictures").mkdir()
    (boxed.folder / "pictures/one.txt").write_text("first\n")
    look = "cat /data/one.txt; touch /data/new 2>/dev/null || echo refused"
    document = boxed.json("run", "--json", spec(
        boxed, engine.busybox(), {"args": ["sh", "-c", look], "dataset": "pictures"}))
    assert log(document, 1) == "first\nrefused\n"
    assert os.listdir(boxed.folder / "pictures") == ["one.txt"]


def test_a_container_that_already_runs_is_only_watched(boxed, engine):
    container = engine.run(engine.busybox(), "known_load", "1", "600", str(64 * MB))
    try:
        run = boxed.run("--container", container[:12], "--for", "2s")
        assert run["status"] == "finished" and 2 <= round(run["duration_seconds"], 1) < 6
        assert run["footprint"]["memory_bytes"]["peak"] == pytest.approx(64 * MB, rel=0.05)
        assert run["footprint"]["cpu_cores"]["mean"] > 0.01  # as on a busy machine
        assert engine.state(container)["Running"]
    finally:
        engine.remove(container)


def cpu_seconds(engine, container):
    _, said = engine.call("GET", f"/containers/{container}/stats", stream="false", **{"one-shot": "true"})
    return said["cpu_stats"]["cpu_usage"]["total_usage"] / 1e9


def test_each_life_of_a_watched_container_is_a_run(boxed, engine):
    container = engine.run(engine.busybox(), "known_load", "1", "600", str(64 * MB))
    try:
        process = boxed.start("run", "--json", "--container", container, "--for", "8s")
        wait_until(lambda: list(boxed.folder.rglob("run-1")), 30, "it is watched")
        before = cpu_seconds(engine, container)
        wait_until(lambda: cpu_seconds(engine, container) > before + 0.1, 30, "its first life works")
        status, answer = engine.call("POST", f"/containers/{container}/restart", t="0")
        assert status == 204, answer
        out, _ = process.communicate(timeout=60)
        first, second = json.loads(out)["runs"]
        assert first["exit"]["detail"] == "ended while watched"
        assert second["exit"]["detail"] == "still running when the watching ended"
        assert first["duration_seconds"] + second["duration_seconds"] < 9
        for run in first, second:
            assert run["footprint"]["memory_bytes"]["peak"] == pytest.approx(64 * MB, rel=0.05)
            assert run["footprint"]["cpu_cores"]["mean"] > 0.01
    finally:
        engine.remove(container)


def test_what_others_execute_in_a_watched_container_is_counted(boxed, engine):
    container = engine.run(engine.busybox(), "sleep", "600")
    try:
        _, made = engine.call("POST", f"/containers/{container}/exec", {"Cmd": ["known_load", "1", "600", "0"]})
        status, answer = engine.call("POST", f"/exec/{made['Id']}/start", {"Detach": True})
        assert status == 200, answer
        wait_until(lambda: cpu_seconds(engine, container) > 0.2, 60, "it works")
        run = boxed.run("--container", container, "--for", "2s")
        assert run["footprint"]["cpu_cores"]["mean"] > 0.01  # it has the processor for itself alone only on an idle machine
        assert run["footprint"]["processes"]["peak"] == 2
        assert "own control group" not in [gap["what"] for gap in run["not_measured"]]
    finally:
        engine.remove(container)


def test_a_container_that_is_not_there_cannot_be_watched(boxed):
    done = boxed.assay("run", "--container", "nosuch", "--for", "1s")
    assert done.returncode == 2 and "nosuch" in done.stderr
    assert boxed.json("history", "list", "--json") == []


def test_runtime_auto_says_which_it_picked(place, dockerd):
    use(place, dockerd)
    done = place.assay("check", spec(place, dockerd.busybox(), ["true"]))
    assert done.returncode == 0, done.stderr
    version = dockerd.get("/version")["Version"]
    assert f"\nimages run in Docker {version}\n" in done.stdout
