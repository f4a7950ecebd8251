# SPDX-License-Identifier: Apache-2.0
"""Timeouts, Ctrl-C and attaching: what is stopped, how, and what is kept."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import ASSAY, KNOWN_LOAD, PYTHON, wait_until

TICK = 1 / os.sysconf("SC_CLK_TCK")

# Writes a line when it runs and for each signal, and ends only by force.
STUBBORN = """
import signal, sys, time
log = open('signals.txt', 'a', buffering=1)
for s in (signal.SIGINT, signal.SIGTERM):
    signal.signal(s, lambda n, _: log.write(f'{signal.Signals(n).name} {time.monotonic()}\\n'))
log.write(f'started {time.monotonic()}\\n')
while True:
    time.sleep(0.05)
"""
# Ends at the first SIGINT, as most do.
POLITE = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
open('started', 'w').close()
while True:
    time.sleep(0.05)
"""


def test_an_app_that_ignores_signals_is_killed_step_by_step(place):
    app = place.script("stubborn.py", STUBBORN)
    run = place.run("--timeout", "1s", "--grace", "1s", "--", PYTHON, app)
    assert run["status"] == "timeout"
    assert run["exit"]["signal"] == signal.SIGKILL
    lines = [line.split() for line in (place.folder / "signals.txt").read_text().splitlines()]
    assert [name for name, _ in lines] == ["started", "SIGINT", "SIGTERM"]
    interrupted, terminated = float(lines[1][1]), float(lines[2][1])
    assert 0.9 <= terminated - interrupted <= 6
    assert place.leftovers() == {}


def test_an_app_that_obeys_ends_at_the_timeout_and_this_is_normal(place):
    app = place.script("polite.py", POLITE)
    start = time.monotonic()
    run = place.run("--timeout", "1s", "--grace", "20s", "--", PYTHON, app)
    assert run["status"] == "timeout" and run["exit"]["code"] == 0
    assert time.monotonic() - start < 10


def test_children_that_left_the_group_are_stopped_at_the_timeout(place):
    place.run("--timeout", "1s", "--grace", "300ms", "--", "bash", "-c",
              "setsid sleep 600 & (setsid sleep 600 &) ; wait")
    wait_until(lambda: not place.leftovers(), 5, "all children gone")


@pytest.mark.parametrize("name, code", [("INT", 130), ("TERM", 130)])
def test_ctrl_c_stops_the_app_keeps_the_session_and_says_where(place, name, code):
    app = place.script("polite.py", POLITE)
    process = place.start("run", "--", PYTHON, app)
    wait_until((place.folder / "started").exists, 20, "the app has started")
    process.send_signal(getattr(signal, "SIG" + name))
    out, err = process.communicate(timeout=20)
    assert process.returncode == code, err
    assert place.leftovers() == {}
    document = place.last()
    assert [run["status"] for run in document["runs"]] == ["interrupted"]
    folder = document["folder"]
    assert pathlib.Path(folder).is_dir() and folder in out + err


def test_ctrl_c_leaves_the_targets_that_follow_out(place):
    spec = place.script("sage.yaml", """
name: two
version: "1"
profiling:
  command: ./app.sh
  targets: [{args: one}, {args: two}]
""")
    place.script("app.sh", "#!/bin/sh\ntouch started-$1\nexec sleep 600\n").chmod(0o755)
    process = place.start("run", "--grace", "300ms", spec)
    wait_until((place.folder / "started-one").exists, 20, "the first target has started")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "1 of 2 runs was not started" in err
    assert not (place.folder / "started-two").exists()
    junit = place.assay("report", "last", "--format", "junit").stdout
    assert 'skipped="1"' in junit and junit.count("<skipped ") == 1


def cpu_seconds(pid):
    """What the kernel says it has used since its start."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def test_attached_to_what_already_runs(place):
    app = subprocess.Popen([KNOWN_LOAD, "1", "600", str(64 << 20)], stdout=subprocess.DEVNULL)
    try:
        wall, cpu = time.monotonic(), cpu_seconds(app.pid)
        run = place.run("--pid", app.pid, "--for", "2s")
        cpu, wall = cpu_seconds(app.pid) - cpu, time.monotonic() - wall
        assert app.poll() is None, "the app goes on"
        assert run["isolation"] == "attached" and run["status"] == "finished"
        assert 2 <= round(run["duration_seconds"], 1) < 4
        # One thread: outside of the watch it used at most the time that passed there.
        watched = run["duration_seconds"]
        used = run["footprint"]["cpu_cores"]["mean"] * watched
        assert (cpu - (wall - watched)) * 0.95 - TICK <= used <= cpu * 1.02 + TICK
        assert run["footprint"]["memory_rss_bytes"]["peak"] == pytest.approx(64 << 20, rel=0.05)
    finally:
        app.kill()
        app.wait()


def test_attaching_ends_when_the_app_ends(place):
    app = subprocess.Popen([KNOWN_LOAD, "1", "2", "0"], stdout=subprocess.DEVNULL)
    try:
        document = place.json("run", "--json", "--pid", app.pid, "--for", "90s", timeout=120)
        assert document["runs"][0]["duration_seconds"] < 80
    finally:
        app.kill()
        app.wait()


def test_attaching_to_nothing_is_refused(place):
    done = place.assay("run", "--pid", 2**22 - 1, "--for", "1s")
    assert done.returncode == 2 and str(2**22 - 1) in done.stderr
    assert json.loads(place.assay("history", "list", "--json").stdout or "[]") == []


def test_a_stalled_reader_does_not_hold_up_the_run(place):
    """Standard error is a pipe that nobody reads and that is full before the run begins."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write_end, b"x" * 4096)
    os.set_blocking(write_end, True)
    # What is said before the app starts still has room.
    os.read(read_end, 8192)
    process = subprocess.Popen([*place.within, ASSAY, "run", "--follow", "--timeout", "1s", "--grace", "1s", "--", "sh", "-c",
                                "while :; do echo line; done"], cwd=place.folder, env=place.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write_end)
    os.close(write_end)

    def ended():
        runs = place.json("history", "list", "--json")
        return runs and runs[0]["status"] == "timeout"
    try:
        wait_until(ended, 30, "the run to end at its timeout though its output is stalled")
    finally:
        os.close(read_end)
        process.wait(30)


def test_an_interrupt_ends_the_conversion_of_a_video_and_nothing_stays(place):
    """Two hours of video become some hundred thousand pictures; the app has not started yet."""
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=1:duration=7200",
                    "-c:v", "mpeg4", str(place.folder / "river.mp4")], check=True)
    path = place.script("sage.yaml", json.dumps({
        "name": "watcher", "command": ["touch", "started"], "profiling": {
            "dataset": "river.mp4", "playback": [{"id": "top", "type": "video", "fps": 30}]}}))
    process = place.start("run", path)
    cache = place.folder / ".cache"
    wait_until(lambda: any(cache.rglob("part-*/*.jpg")), 30, "the conversion has begun")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert f"converting {place.folder}/river.mp4 for playback" in err
    assert place.last()["runs"][0]["status"] == "interrupted"
    assert not (place.folder / "started").exists() and not any(cache.rglob("*.jpg"))
    assert place.leftovers() == {}
