# SPDX-License-Identifier: Apache-2.0
"""What the parts of the benchmark share: kept results, statistics, verdicts and the table."""
import hashlib
import json
import math
import os
import pathlib
import platform
import random
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commit_stamp(binary):
    """The commit, and for a changed tree also a digest of the binary, so that results never mix."""
    def git(*arguments):
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()
    stamp = git("rev-parse", "--short=12", "HEAD") or "no-commit"
    if git("status", "--porcelain", "--untracked-files=no"):
        stamp += "-" + hashlib.sha256(pathlib.Path(binary).read_bytes()).hexdigest()[:8]
    return stamp


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                if line.startswith(("model name", "Model"))), platform.machine())
    return f"{platform.node()}, {os.cpu_count()} cores of {cpu}, Linux {platform.release()}"


def calibration_ms():
    """A fixed loop of this interpreter, the best of five: tells how fast the machine is just now."""
    def loop():
        start, x = time.perf_counter(), 1
        for _ in range(1_000_000):
            x = (x * 48271) % 2147483647
        return (time.perf_counter() - start) * 1000
    return min(loop() for _ in range(5))


def percentile(values, p):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(p / 100 * len(ordered)) - 1)]


def trimmed_mean(values, trim):
    """Without the share `trim` of the smallest and as many of the largest."""
    cut = int(len(values) * trim)
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def ratio_interval(pairs, rounds=5000, trim=0.0):
    """Geometric mean of b/a over pairs (a, b), and its 95 % interval by bootstrap over the pairs. With `trim`, pairs
    that a neighbour on a shared machine has disturbed, to either side, do not decide."""
    logs = [math.log(b / a) for a, b in pairs]
    draw = random.Random(1)
    means = sorted(trimmed_mean(draw.choices(logs, k=len(logs)), trim) for _ in range(rounds))
    return tuple(math.exp(x) for x in (trimmed_mean(logs, trim), means[int(0.025 * rounds)],
                                       means[int(0.975 * rounds)]))


def kept_entries(file):
    """The entries of a file of JSON lines; a last line that was cut off while being written is removed from it."""
    whole, _, cut = file.read_bytes().rpartition(b"\n")
    if cut:
        os.truncate(file, len(whole) + (1 if whole else 0))
    return [json.loads(line) for line in whole.splitlines()]


class Bench:
    """One part's view: measurements that are made once per commit, and rows of the result."""

    def __init__(self, part, build, folder):
        self.part = part
        self.bin = pathlib.Path(build).resolve() / "bin"
        self.assay = str(self.bin / "assay")
        self.file = folder / f"{part}.jsonl"
        self.work = folder / "work" / part
        self.work.mkdir(parents=True, exist_ok=True)
        self.kept = {}
        if self.file.exists():
            for entry in kept_entries(self.file):
                self.kept[entry["key"]] = entry["value"]
        self.rows = []

    def once(self, key, measure):
        """The kept value of `key`, or the one measured now and kept."""
        if key not in self.kept:
            value = measure()
            entry = {"key": key, "value": value, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
            with open(self.file, "a", encoding="utf-8") as f:
                f.write(json.dumps(entry) + "\n")
            self.kept[key] = value
        return self.kept[key]

    def command(self, *words, check=True, history="history.db"):
        """Runs a command with a history of its own; gives its stdout."""
        env = dict(os.environ, HOME=str(self.work), XDG_DATA_HOME=str(self.work / "data"),
                   ASSAY_STORE=str(self.work / history), ASSAY_LOCK=str(self.work / "lock"))
        done = subprocess.run([str(w) for w in words], cwd=self.work, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def row(self, what, measured, beside="", limit="", good=None):
        """`good`: None for a number that is only told."""
        self.rows.append((what, measured, beside, limit, {None: "", True: "PASS", False: "FAIL"}[good]))
        print("  " + "  ".join(filter(None, self.rows[-1])), flush=True)


def markdown(title, rows):
    head = ("what", "measured", "beside", "must be", "")
    return "\n".join([f"## {title}", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
                     + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
