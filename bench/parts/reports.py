# SPDX-License-Identifier: Apache-2.0
"""What it costs an app to report about itself, and the server to take it."""
import contextlib
import json
import os
import statistics
import subprocess

import harness

TITLE = "self-reported metrics"
ROUNDS = 40


def run(bench):
    program = bench.bin / "report_speed"
    cpp_timers(bench, program)
    python_timers(bench, program)
    ingest(bench, program)


def cpp_timers(bench, program):
    """The least of short rounds: what neighbours on a shared core add is not the timer's."""
    found = [bench.once(f"C++ timers {i}", lambda: json.loads(bench.command(program, "timers"))) for i in range(5)]
    pair, push, name, absent, contended, clock, loop = (
        min(f[key] for f in found)
        for key in ("handle", "push", "name", "without_profiler", "contended", "clock", "calibration"))
    medians = sorted(f["median"] for f in found)
    bench.row("C++ timer start+stop by handle", f"{pair:.1f} ns",
              f"of it two readings of the clock {2 * clock:.1f} ns; medians of {len(found)} runs {medians[0]:.1f} to "
              f"{medians[-1]:.1f} ns; calibration loop {loop:.2f} ns a turn", "at most 60 ns", pair <= 60)
    bench.row("the same otherwise", f"by name {name:.0f} ns",
              f"two threads on one timer {contended:.0f} ns, without a profiler {absent:.0f} ns")
    bench.row("C++ number pushed by handle, into the ring", f"{push:.1f} ns")


@contextlib.contextmanager
def other_end(bench, program, way):
    """A profiler in a process of its own; what it prints at its end is added to what it gives."""
    path = bench.work / way
    path.unlink(missing_ok=True)
    process = subprocess.Popen([str(program), way, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{program} {way} did not start")
        told = {"path": str(path)}
        yield told
        process.stdin.close()
        told.update(json.loads(process.stdout.read() or "{}"))
    finally:
        process.stdin.close()
        process.wait(timeout=60)


def python_timers(bench, program):
    def measure():
        script = harness.ROOT / "bench" / "programs" / "python_timers.py"
        environment = dict(os.environ, PYTHONPATH=str(harness.ROOT / "clients" / "python"), PYTHONDONTWRITEBYTECODE="1")
        with other_end(bench, program, "serve") as sharing, other_end(bench, program, "swallow") as lines:
            done = subprocess.run(["/usr/bin/python3", str(script), sharing["path"], lines["path"], str(ROUNDS)],
                                  env=environment, capture_output=True, text=True, check=True)
        return {**json.loads(done.stdout), "server": sharing}

    found = bench.once("Python timers", measure)
    theirs = found["prometheus"]

    def faster(way):
        mean, low, high = harness.ratio_interval(list(zip(found[way], theirs)))
        return low, f"{mean:.2f} x (95 %: {low:.2f} to {high:.2f})"

    def median(way):
        return f"{statistics.median(found[way]):.0f} ns"

    low, text = faster("handle")
    bench.row("Python timer_handle start+stop against Histogram.time()", text,
              f"{median('handle')}, prometheus_client {found['version']} {median('prometheus')}; {ROUNDS} turns each",
              "at least 3 x", low >= 3)
    low, text = faster("kept")
    bench.row("Python `with` a timer that is kept, against it", text, median("kept"), "at least 3 x", low >= 3)
    bench.row("Python `with metrics.timer(…)` against it", faster("with")[1], median("with"))
    server = found["server"]
    bench.row("the server's CPU time meanwhile", f"{server['cpu_seconds'] * 1e3:.1f} ms",
              f"{server['counted']} durations counted, {server['lost']} lost")
    bench.row("a JSON line for each event, against it", faster("lines")[1],
              f"{median('lines')}, {found['dropped_lines']} dropped")


def ingest(bench, program):
    found = [bench.once(f"ingest {i}", lambda: json.loads(bench.command(program, "ingest"))) for i in range(5)]
    rate = statistics.median(f["events_per_second"] for f in found)
    slowest = min(f["slowest"] for f in found)
    bench.row("ring events taken by one core", f"{rate / 1e6:.1f} million a second",
              f"slowest of {5 * 15} rounds {slowest / 1e6:.1f}; {sum(f['lost'] for f in found)} lost; calibration loop "
              f"{statistics.median(f['calibration'] for f in found):.2f} ns a turn",
              "at least 5 million", rate >= 5e6)
