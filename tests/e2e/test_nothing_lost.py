# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of `assay` at any moment, and a full disk: no orphans, and nothing older than a second lost."""
import csv
import io
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time
import warnings

import pytest
from conftest import PYTHON, wait_until

# Other moments each time; ASSAY_TEST_SEED repeats those of a run that failed.
SEED = int(os.environ.get("ASSAY_TEST_SEED") or random.randrange(1 << 32))
SEEDED = random.Random(SEED)
MOMENTS = [round(SEEDED.uniform(0.02, 3.5), 3) for _ in range(20)]
# Reports a counter every 50 ms and keeps its own list of it; leaves children behind in every way.
TICKING = """
import os, subprocess, time
from assay import LiveMetrics
subprocess.Popen(['sleep', '600'])
subprocess.Popen(['setsid', 'sleep', '601'])
if os.fork() == 0:                       # double fork: the grandchild is re-parented
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '602'])
    os._exit(0)
os.wait()
metrics = LiveMetrics()
truth = open('ticks.txt', 'w', buffering=1)
n = 0
while True:
    now = time.time()
    metrics.push('tick', n)
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
    print(f"killed after {moment} s: ASSAY_TEST_SEED={SEED}")  # shown when the test fails
    if number % 2:
        place.env["ASSAY_NO_CGROUP"] = "1"
    killed = kill_after(place, moment)
    wait_until(lambda: not place.leftovers(), 5, lambda: f"nothing left of the app: {place.leftovers()}")
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
    due = {int(n) for n, when in truth if float(when) < killed - 1.5}  # a second, and what a busy machine adds
    assert due <= ticks
    if due:
        cpu = [float(r["time_unix_seconds"]) for r in rows
               if r["scope"] == "app" and r["metric"] == "cpu_usage_seconds_total"]
        assert max(cpu) > killed - 1.7  # and one interval on either side


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


def test_a_session_that_was_cut_off_can_be_removed(place):
    app = place.script("ticking.py", TICKING)
    process = place.start("run", "--quiet", "--", PYTHON, app)
    wait_until(lambda: len(read(place.folder / "ticks.txt")) > 20, 20, "the app runs for a second")
    process.kill()
    process.communicate()
    folder = pathlib.Path(place.last()["folder"])
    done = place.assay("history", "rm", "last")
    assert done.returncode == 0, done.stderr
    assert not folder.exists()
    assert place.json("history", "list", "--json") == []


# Ticks until it is told to end.
PATIENT = """
import os, time
from assay import LiveMetrics
n = 0
with LiveMetrics() as metrics, open('ticks.txt', 'w', buffering=1) as truth:
    while not os.path.exists('end'):
        metrics.push('tick', n)
        truth.write(f'{n}\\n')
        n += 1
        time.sleep(0.05)
open('ended', 'w').close()
"""


def test_a_history_that_another_program_locks_costs_nothing(place):
    """Neither the app nor a sample, though it stays locked until the app has ended."""
    app = place.script("patient.py", PATIENT)
    process = place.start("run", "--json", "--", PYTHON, app)
    ticks = place.folder / "ticks.txt"
    wait_until(lambda: len(read(ticks)) > 5, 20, "the app runs")
    other = sqlite3.connect(place.folder / "history.db", timeout=20, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    before = len(read(ticks))
    wait_until(lambda: len(read(ticks)) > before + 40, 30, "two seconds of ticks")
    (place.folder / "end").touch()
    wait_until((place.folder / "ended").exists, 20, "the app has ended by itself")
    other.execute("COMMIT")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    run = json.loads(out)["runs"][0]
    # A busy machine may cost a beat of the sampler. One that waited for the lock would miss some twenty.
    assert run["status"] == "finished" and {loss["source"] for loss in run["losses"]} <= {"sampler"}, run["losses"]
    assert sum(loss["count"] for loss in run["losses"]) < 15, run["losses"]
    values = [int(float(r["value"])) for r in csv_rows(place, "last") if r["metric"] == "tick"]
    assert values == [int(n) for n in read(ticks)]


def test_what_is_kept_is_for_its_user_alone(place):
    folder = pathlib.Path(place.json("run", "--json", "--", "echo", "hello")["folder"])
    modes = {path: oct(path.stat().st_mode & 0o777)
             for path in (place.folder / "history.db", folder.parent, folder, folder / "run-1/stdout.log")}
    assert list(modes.values()) == ["0o600", "0o700", "0o700", "0o600"], modes


def mounted_here(disk):
    """The disk on this machine; gives what `assay` is started by, and where the test sees the disk."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], capture_output=True)
    if done.returncode:
        return None
    unmount = ["umount", str(disk)]
    return [], disk, lambda: wait_until(
        lambda: subprocess.run(unmount, capture_output=True).returncode == 0, 10, "unmounted")


def mounted_in_a_namespace(disk):
    """The same in user and mount namespaces of its own, for those who are not root."""
    holder = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         f"mount -t tmpfs -o size=4m tmpfs '{disk}' && echo ready && exec sleep 600"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def end():
        holder.kill()
        holder.communicate()

    if holder.stdout.readline() != b"ready\n":
        end()
        return None
    within = ["nsenter", f"--target={holder.pid}", "--user", "--mount", "--preserve-credentials", "--"]
    return within, pathlib.Path(f"/proc/{holder.pid}/root{disk}"), end


@pytest.fixture
def small_disk(place, tmp_path):
    """A tmpfs of 4 MB, with the test's history and sessions on it; gives where the test sees it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = mounted_here(disk) or mounted_in_a_namespace(disk)
    if not made:
        warnings.warn("THE FULL DISK IS NOT TESTED: neither mount nor user namespaces are allowed here")
        pytest.skip("no small disk can be had: neither mount nor user namespaces are allowed here")
    place.within, seen, end = made
    place.env.update(ASSAY_STORE=str(disk / "history.db"), XDG_DATA_HOME=str(disk / "data"))
    place.mark = f"ASSAY_STORE={disk}"
    yield seen
    end()


def test_a_file_that_may_not_grow_ends_the_session_with_a_clear_error(place):
    """As on a full disk, but possible everywhere: the kernel refuses to write beyond a size."""
    first = place.json("run", "--json", "--", "sleep", "0.5")["session"]
    before = csv_rows(place, first)
    size = (place.folder / "history.db").stat().st_size + (32 << 10)
    # Without this, a signal would end `assay` before it can say anything.
    place.within = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh", "prlimit", f"--fsize={size}", "--"]
    done = place.assay("run", "--interval", "10ms", "--timeout", "20s", "--", "sleep", "30")
    place.within = []
    assert done.returncode == 4, done.stdout + done.stderr
    assert f"the history {place.folder}/history.db" in done.stderr, done.stderr
    assert "terminate called" not in done.stderr and len(done.stderr.splitlines()) < 20
    assert place.leftovers() == {}
    assert csv_rows(place, first) == before
    assert place.assay("run", "--quiet", "--", "true").returncode == 0


def fill(disk, leave):
    """Takes all space but `leave` bytes; gives the file to remove."""
    filler = disk / "filler"
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    with open(filler, "wb") as f:
        f.write(b"\0" * max(0, free - leave))
    return filler


@pytest.mark.parametrize("leave", [0, 64 << 10, 256 << 10])
def test_a_full_disk_ends_the_session_with_a_clear_error(place, small_disk, leave):
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
