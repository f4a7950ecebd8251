# SPDX-License-Identifier: Apache-2.0
"""Footprints agree within 2 % with what others say: GNU time, and a program whose use is known."""
import csv
import io
import json
import os
import pathlib
import re

import pytest
from conftest import KNOWN_LOAD, PYTHON

MB = 1 << 20
VISION = """
import cv2, numpy
kept = numpy.ones((200, 1 << 20), dtype=numpy.uint8)  # 200 MiB
image = numpy.random.default_rng(1).integers(0, 255, (720, 1280), dtype=numpy.uint8)
cv2.setNumThreads(1)
for _ in range(600):  # long beside the hundredths of a second that GNU time cuts off
    cv2.GaussianBlur(image, (31, 31), 5)
"""


@pytest.fixture(params=["cgroup", "process tree"])
def isolation(request, place):
    """Runs the test twice: with what the machine offers, and with the process tree alone."""
    if request.param == "process tree":
        place.env["ASSAY_NO_CGROUP"] = "1"
    return request.param


def gnu_time(text):
    """User plus system seconds and largest RSS in bytes, as /usr/bin/time -v prints them."""
    def number(label):
        return float(re.search(label + r": ([\d.]+)", text)[1])
    cpu = number(r"User time \(seconds\)") + number(r"System time \(seconds\)")
    return cpu, number(r"Maximum resident set size \(kbytes\)") * 1024


def cpu_from_mean(run):
    return run["footprint"]["cpu_cores"]["mean"] * run["duration_seconds"]


def cpu_samples(place):
    """Times and values of the counter as it was sampled, before the totals at exit correct anything."""
    rows = csv.DictReader(io.StringIO(place.assay("report", "last", "--format", "csv").stdout))
    return [(float(row["time_unix_seconds"]), float(row["value"])) for row in rows
            if row["scope"] == "app" and row["metric"] == "cpu_usage_seconds_total"]


def cpu_at_exit(run):
    return run["exit"]["user_seconds"] + run["exit"]["system_seconds"]


def check_isolation(run, isolation):
    if isolation == "process tree":
        assert run["isolation"] == "process tree"
    elif not run["isolation"].startswith("cgroup"):
        pytest.skip(f"no cgroup can be made here: {run['isolation']}")


@pytest.mark.parametrize("command", [
    [KNOWN_LOAD, "1", "3", str(256 * MB)],
    [PYTHON, "-c", VISION],
], ids=["known_load", "vision"])
def test_footprint_agrees_with_gnu_time(place, isolation, command):
    said = place.folder / "time.txt"
    run = place.run("--", "/usr/bin/time", "-v", "-o", said, *command)
    check_isolation(run, isolation)
    cpu, rss = gnu_time(said.read_text())
    assert cpu_at_exit(run) == pytest.approx(cpu, rel=0.02)
    assert cpu_from_mean(run) == pytest.approx(cpu, rel=0.02)
    # No sample is made after the app has ended: the last beat may be missing, and on a busy machine some more.
    assert 0.8 * cpu < cpu_samples(place)[-1][1] < 1.02 * cpu
    assert run["footprint"]["memory_rss_bytes"]["peak"] == pytest.approx(rss, rel=0.02)


@pytest.mark.parametrize("threads", [1, 2])
def test_footprint_agrees_with_a_known_load(place, isolation, threads):
    size, cpu = 256 * MB, 4.0
    said = place.folder / "known.json"
    run = place.run("--", "sh", "-c", f"exec {KNOWN_LOAD} {threads} {cpu} {size} > {said}")
    check_isolation(run, isolation)
    known = json.loads(said.read_text())
    assert known["cpu_seconds"] == pytest.approx(cpu, rel=0.02)
    assert known["wall_seconds"] < run["duration_seconds"]
    assert cpu_from_mean(run) == pytest.approx(cpu, rel=0.02)
    first, last = (cpu_samples(place)[at] for at in (0, -1))
    assert 0.8 * cpu < last[1] < 1.02 * cpu
    assert (last[1] - first[1]) / (last[0] - first[0]) == pytest.approx(cpu / known["wall_seconds"], rel=0.2)
    assert run["footprint"]["cpu_cores"]["p50"] < 1.1 * threads
    assert cpu_at_exit(run) == pytest.approx(cpu, rel=0.02)
    assert run["footprint"]["memory_rss_bytes"]["peak"] == pytest.approx(size, rel=0.02)
    assert run["footprint"]["memory_bytes"]["peak"] == pytest.approx(size, rel=0.02)


def test_children_born_later_are_counted(place, isolation):
    """Three children that hold 32 MiB each; the parent stays for some beats when all of them are there."""
    child = """
import sys
held = bytearray(32 << 20)
held[::4096] = b'1' * (len(held) // 4096)
print('ready', flush=True)
sys.stdin.read()
"""
    parent = f"""
import subprocess, sys, time
time.sleep(0.3)
children = [subprocess.Popen([sys.executable, '-c', {child!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(3)]
for child in children:
    child.stdout.readline()
time.sleep(0.5)
"""
    run = place.run("--", PYTHON, "-c", parent)
    check_isolation(run, isolation)
    assert run["footprint"]["processes"]["peak"] == 4
    assert run["footprint"]["threads"]["peak"] == 4
    assert run["footprint"]["memory_rss_bytes"]["peak"] > 3 * 32 * MB


def test_a_burst_between_two_beats_is_not_missed(place):
    """The kernel's own totals count what no sample could see."""
    run = place.run("--interval", "1s", "--", KNOWN_LOAD, "1", "0.3", str(64 * MB))
    # Beside its 0.3 s there are its start and what it gives back.
    assert 0.29 < cpu_at_exit(run) < 0.5
    assert 0.29 < cpu_from_mean(run) < 0.5


def test_threads_that_share_a_core_are_seen_waiting(place):
    """Two busy threads on one core: each waits while the other runs."""
    core = str(min(os.sched_getaffinity(0)))
    run = place.run("--", "taskset", "-c", core, KNOWN_LOAD, "2", "2", str(MB))
    waiting = run["footprint"]["cpu_waiting_cores"]["mean"]
    assert waiting > 0.7 * run["footprint"]["cpu_cores"]["mean"]


def test_samples_reach_the_folder(place):
    document = place.json("run", "--json", "--", KNOWN_LOAD, "1", "0.5", str(16 * MB))
    folder = pathlib.Path(document["folder"])
    assert {"session.json", "samples.csv", "events.csv", "junit.xml", "report.html"} <= {
        p.name for p in folder.iterdir()}
    assert json.loads((folder / "session.json").read_text())["session"] == document["session"]
