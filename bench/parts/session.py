# SPDX-License-Identifier: Apache-2.0
"""What a session costs the app, how soon the app starts, and how small its samples are kept."""
import contextlib
import json
import sqlite3
import time

import harness

TITLE = "the cost of a session"
PAIRS = 200
PAIR_SECONDS = 1  # of each half: short, so that both halves meet the same neighbours on a shared machine
TRIM = 0.1  # single pairs differ by up to a third where others use the same cores
STARTS = 40
EXAMPLE = harness.ROOT / "examples" / "objcounter" / "sage.yaml"


def run(bench):
    slowdown(bench)
    start_time(bench)
    stored_bytes(bench)


def slowdown(bench):
    """Plain and profiled runs of the same work in turn; which comes first alternates."""
    program = bench.bin / "busy_cores"
    chunks = bench.once("chunks", lambda: calibrate(bench, program))

    def plain():
        return json.loads(bench.command(program, chunks))

    def profiled():
        output = bench.work / "busy.json"
        document = json.loads(bench.command(bench.assay, "run", "--json", "--interval", "100ms", "--", "sh", "-c",
                                            f"exec {program} {chunks} > {output}"))
        return {**json.loads(output.read_text()), "sampling": document["runs"][0]["sampling"]}

    def pair(number):
        if number % 2:
            second = profiled()
            return [plain(), second]
        return [plain(), profiled()]

    pairs = [bench.once(f"pair {i}", lambda i=i: pair(i)) for i in range(PAIRS)]
    walls = [(a["wall_seconds"], b["wall_seconds"]) for a, b in pairs]
    wall = harness.ratio_interval(walls, trim=TRIM)
    cpu = harness.ratio_interval([(a["cpu_seconds"], b["cpu_seconds"]) for a, b in pairs], trim=TRIM)
    bench.row("slowdown of an app on all cores, 10 Hz", percent(wall),
              f"{PAIRS} pairs of {PAIR_SECONDS} s; all of them: {percent(harness.ratio_interval(walls))}", "upper end at most 1 %", wall[2] <= 1.01)
    bench.row("the app's own CPU time", percent(cpu), "the same pairs")
    own_cost(bench, [b["sampling"] for _, b in pairs], [b["wall_seconds"] for _, b in pairs])


def percent(ratio):
    mean, low, high = ((x - 1) * 100 for x in ratio)
    return f"{mean:+.2f} % (95 %: {low:+.2f} to {high:+.2f} %)"


def calibrate(bench, program):
    took = json.loads(bench.command(program, 1000))["wall_seconds"]
    return max(1, round(1000 * PAIR_SECONDS / took))


def own_cost(bench, samplings, walls):
    cpu = sum(s["own_cpu_seconds"] for s in samplings)
    beats = sum(s["beats"] for s in samplings)
    late = sum(s["late_beats"] for s in samplings)
    bench.row("assay's own CPU time a beat", f"{cpu / beats * 1e6:.0f} us",
              f"{cpu / sum(walls) * 100:.2f} % of one core; {late} of {beats} beats late")


def start_time(bench):
    """From just before the call to the first statement of the app."""
    def milliseconds(*command):
        output = bench.work / "clock.txt"
        start = time.monotonic_ns()
        bench.command(*command, bench.bin / "exec_clock", output)
        return (int(output.read_text()) - start) / 1e6

    def env_true():
        start = time.monotonic_ns()
        bench.command("env", "true")
        return (time.monotonic_ns() - start) / 1e6

    def once(i):
        return {"env": milliseconds("env"), "assay": milliseconds(bench.assay, "run", "--quiet", "--"),
                "env true": env_true()}

    times = [bench.once(f"start {i}", lambda i=i: once(i)) for i in range(STARTS)]
    ours, env, whole = ([t[name] for t in times] for name in ("assay", "env", "env true"))
    p95 = harness.percentile(ours, 95)
    bench.row("from `assay run` to the app's exec", f"p50 {harness.percentile(ours, 50):.1f} ms, p95 {p95:.1f} ms",
              f"through `env`: p50 {harness.percentile(env, 50):.1f} ms, p95 {harness.percentile(env, 95):.1f} ms; "
              f"all of `env true`: p50 {harness.percentile(whole, 50):.1f} ms",
              "at most 50 ms", p95 <= 50)


def stored_bytes(bench):
    """The example app in a history of its own: as it ships, and half a minute of it."""
    def measure(history, *words):
        bench.command(bench.assay, "run", "--quiet", *words, check=False, history=history)
        with contextlib.closing(sqlite3.connect(bench.work / history)) as db:
            size, samples = db.execute(
                "SELECT sum(length(data)), sum(samples) FROM"
                " (SELECT data, samples FROM blocks UNION ALL SELECT data, samples FROM tail)").fetchone()
        return {"bytes": size, "samples": samples}

    short = bench.once("stored", lambda: measure("example.db", EXAMPLE))
    longer = bench.once("stored, half a minute", lambda: measure(
        "longer.db", "--timeout", "30", "--", "/usr/bin/python3", EXAMPLE.parent / "objcounter.py",
        "--frames", "1000000"))
    each, shipped = (s["bytes"] / s["samples"] for s in (longer, short))
    bench.row("stored bytes a sample, half a minute of the example", f"{each:.2f}",
              f"{longer['samples']} samples; as it ships, in a few seconds: {shipped:.2f} over {short['samples']}",
              "at most 1.5", each <= 1.5)
