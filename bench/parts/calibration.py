# SPDX-License-Identifier: Apache-2.0
"""How long `assay device calibrate` takes, and how much alike its figures are from time to time."""
import json
import statistics
import time

TITLE = "calibration"
TIMES, LONGEST, APART = 5, 120, .03


def run(bench):
    def calibrate():
        start = time.monotonic()
        bench.command(bench.assay, "device", "calibrate", "--name", "here")
        took = time.monotonic() - start
        device = json.loads((bench.work / "devices" / "here.json").read_text(encoding="utf-8"))["device"]
        return {"seconds": took, "figures": device["figures"]}

    found = [bench.once(f"calibration {number}", calibrate) for number in range(TIMES)]
    longest = max(one["seconds"] for one in found)
    bench.row("device calibrate, the longest", f"{longest:.0f} s", f"{TIMES} times", f"at most {LONGEST} s", longest <= LONGEST)
    names = set.intersection(*(set(one["figures"]) for one in found))
    apart = {name: spread(one["figures"][name] for one in found) for name in names}
    worst = sorted(apart, key=apart.get, reverse=True)
    alike = sum(one <= APART for one in apart.values())
    bench.row(f"figures within 3 % of their median in {TIMES - 1} of {TIMES} times", f"{alike} of {len(apart)}",
              "worst: " + ", ".join(f"{name} {100 * apart[name]:.1f} %" for name in worst[:4]),
              "all, on a quiet machine", alike == len(apart))


def spread(values):
    """The furthest from the median but one, as a share of it."""
    values = list(values)
    median = statistics.median(values)
    return sorted(abs(value / median - 1) for value in values)[-2]
