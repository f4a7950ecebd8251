# SPDX-License-Identifier: Apache-2.0
"""What a scrape of 10,000 series costs, beside prometheus-cpp writing the same ones."""
import json
import math
import statistics

from prometheus_client.parser import text_string_to_metric_families

import harness

TITLE = "exposition of 10,000 series"
PROCESSES, ROUNDS = 5, 22
GOAL = 5


def run(bench):
    bench.once("same samples", lambda: compare(bench))
    runs = [bench.once(f"process {i}", lambda: measure(bench)) for i in range(PROCESSES)]
    pairs = [tuple(pair) for one in runs for pair in one["pairs"]]
    ratio, low, high = harness.ratio_interval(pairs)
    each = [statistics.median(theirs / ours for ours, theirs in one["pairs"]) for one in runs]
    ours, theirs = (statistics.median(pair[i] for pair in pairs) * 1000 for i in (0, 1))
    bench.row("CPU time of prometheus-cpp's TextSerializer over ours", f"{ratio:.1f} x",
              f"95 % interval {low:.1f} to {high:.1f}, by process {min(each):.1f} to {max(each):.1f}; "
              f"medians {ours:.2f} ms and {theirs:.2f} ms of {len(pairs)} pairs, values changed each time",
              f"at least {GOAL} x", low >= GOAL)
    packing = statistics.median(one["gzip_seconds"] for one in runs) * 1000
    bench.row("gzip of that text", f"{packing:.1f} ms",
              f"{runs[0]['our_bytes'] / 1e6:.2f} MB become {runs[0]['gzip_bytes'] / 1e6:.2f} MB")


def measure(bench):
    return json.loads(bench.command(bench.bin / "expose_series", ROUNDS))


def compare(bench):
    """Both texts mean the same: name, labels and value of each sample."""
    texts = [bench.work / "ours.txt", bench.work / "theirs.txt"]
    bench.command(bench.bin / "expose_series", "print", *texts)
    ours, theirs = (samples(text.read_text(encoding="utf-8")) for text in texts)
    if len(ours) != len(theirs) or not all(map(same, ours, theirs)):
        raise RuntimeError(f"not the same samples; see {texts[0]} and {texts[1]}")
    return len(ours)


def same(ours, theirs):
    # prometheus-cpp writes 16 digits, which do not always give the value back.
    return ours[:2] == theirs[:2] and math.isclose(ours[2], theirs[2], rel_tol=1e-15)


def samples(text):
    return sorted((s.name, sorted(s.labels.items()), s.value)
                  for family in text_string_to_metric_families(text) for s in family.samples)
