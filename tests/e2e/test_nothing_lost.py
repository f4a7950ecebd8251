# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of `assay` at any moment, and a full disk: no orphans, and nothing older than a second lost."""
import csv
import io
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import PYTHON, wait_until

SEEDED = random.Random(20)
MOMENTS = [round(SEEDED.uniform(0.02, 3.5), 3) for _ in range(20)]
# Reports a counter every 50 ms and keeps its own list of it; leaves children behind in every way.
TICKING = """
import json, os, socket, subprocess, time
subprocess.Popen(['sleep', '600'])
subprocess.Popen(['setsid', 'sleep', '601'])
if os.fork() == 0:                       # double fork: the grandchild is re-parented
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '602'])
    os._exit(0)
os.wait()
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ['ASSAY_SOCKET'])
truth = open('ticks.txt', 'w', buffering=1)
n = 0
while True:
    now = time.time()
    s.sendall(json.dumps({'tick': {'value': n, 'timestamp': now}}).encode() + b'\\n\\n')
    truth.write(f'{n} {now}\\n')
    n += 1
    time.sleep(0.05)
"""


def kill_after(place, seconds):
    """Starts a run and kills `assay` that long after its start; gives the wall time of the kill."""
    app = place.script("ticking.py", TICKING)
    process = place.start("run", "--quiet", "--", PYTHON, app)
    time.sleep(seconds)  # the moment is the point of the test, not a way to wait for something
    killed = time.time()
    process.kill()
    process.communicate()
    return killed


def csv_rows(place, session):
    done = place.assay("report", session, "--format", "csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.mark.parametrize("number", range(20))
def test_sigkill_leaves_no_orphan_and_a_readable_session(place, number):
    """At twenty moments; every other one without a cgroup, where only the process tree tells who belongs."""
    moment = MOMENTS[number]
    if number % 2:
        place.env["ASSAY_NO_CGROUP"] = "1"
    killed = kill_after(place, moment)
    wait_until(lambda: not place.leftovers(), 5, f"nothing left of the app: {place.leftovers()}")
    listed = place.json("history", "list", "--json")
    if not listed:
        assert not (place.folder / "ticks.txt").exists(), "the app ran, but there is no session of it"
        return
    document = place.last()
    if not document["runs"]:  # between the session's start and the run's
        assert not (place.folder / "ticks.txt").exists()
        return
    assert document["runs"][0]["status"] == "interrupted"
    assert "interrupted" in place.assay("history", "show", "last").stdout
    rows = csv_rows(place, document["session"])
    ticks = {int(float(r["value"])) for r in rows if r["metric"] == "tick"}
    truth = [line.split() for line in read(place.folder / "ticks.txt")]
    due = {int(n) for n, when in truth if float(when) < killed - 1}
    assert due <= ticks
    if due:
        cpu = [float(r["time_unix_seconds"]) for r in rows
               if r["scope"] == "app" and r["metric"] == "cpu_usage_seconds_total"]
        assert max(cpu) > killed - 1.2  # a second, and one interval on either side


def read(path):
    return path.read_text().splitlines() if path.exists() else []


def test_the_next_start_ends_what_a_killed_keeper_left(place):
    """Even when every process of ours is killed at once, the next start cleans up."""
    app = place.script("ticking.py", TICKING)
    process = place.start("run", "--quiet", "--", PYTHON, app)
    wait_until((place.folder / "ticks.txt").exists, 20, "the app runs")
    ours = [pid for pid, words in place.leftovers().items() if os.path.realpath(f"/proc/{pid}/exe") == process.args[0]]
    for pid in ours:
        os.kill(pid, signal.SIGSTOP)
    for pid in ours:
        os.kill(pid, signal.SIGKILL)
    process.communicate()
    done = place.assay("run", "--quiet", "--", "true")
    assert done.returncode == 0, done.stderr
    wait_until(lambda: not place.leftovers(), 5, "the leftovers are gone")
    statuses = [entry["status"] for entry in place.json("history", "list", "--json")]
    assert statuses == ["finished", "interrupted"]


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 4 MB, with the test's history and sessions on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs: {mounted.stderr.decode().strip()}")
    yield disk
    wait_until(lambda: subprocess.run(["umount", str(disk)], capture_output=True).returncode == 0, 10, "unmounted")


def fill(disk, leave):
    """Takes all space but `leave` bytes; gives the file to remove."""
    filler = disk / "filler"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with open(filler, "wb") as f:
        f.write(b"\0" * max(0, free - leave))
    return filler


@pytest.mark.parametrize("leave", [0, 64 << 10, 256 << 10])
def test_a_full_disk_ends_the_session_with_a_clear_error(place, small_disk, leave):
    place.env.update(ASSAY_STORE=str(small_disk / "history.db"), XDG_DATA_HOME=str(small_disk / "data"))
    place.mark = f"ASSAY_STORE={small_disk}"
    first = place.json("run", "--json", "--interval", "20ms", "--", "sleep", "0.5")["session"]
    before = csv_rows(place, first)
    filler = fill(small_disk, leave)
    # Writes to its own stdout until the disk is full, however much the profiler itself needs.
    done = place.assay("run", "--interval", "10ms", "--timeout", "20s", "--", "sh", "-c",
                       "head -c 300000 /dev/zero; exec sleep 3")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "space" in done.stderr.lower() or "full" in done.stderr.lower(), done.stderr
    assert "terminate called" not in done.stderr and len(done.stderr.splitlines()) < 20
    assert place.leftovers() == {}
    filler.unlink()
    assert csv_rows(place, first) == before
    assert first in [entry["session"] for entry in place.json("history", "list", "--json")]
    assert place.assay("run", "--quiet", "--", "true").returncode == 0
