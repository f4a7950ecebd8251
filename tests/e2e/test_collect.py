# SPDX-License-Identifier: Apache-2.0
"""Collecting: what survives a kill, what is left behind (nothing), two at once, engines that crash, images, and parts
of this machine as devices."""
import csv
import os
import shutil
import signal
import subprocess
import sys

import pytest

from conftest import ASSAY, wait_until

ENGINE = """
import json, os, sys, time
mode = sys.argv[1]
print(json.dumps({"engine": "test", "version": "1"}), flush=True)
model = ""
for line in sys.stdin:
    request = json.loads(line)
    answer = {"seconds": 0.1}
    if request["do"] == "load":
        model = request["file"]
        runs = 0
    else:
        runs += 1
        answer = {"times": [0.01] * 5}
        if mode == "crash" and model.endswith("a.onnx") and runs == 4:
            sys.exit("out of memory")
        if mode == "image" and os.path.getsize(request["input"]) != 4 * 3 * 32 * 32:
            answer = {"error": "the image has another size"}
        if mode == "work":
            # How many times longer the work took than it should, as if these were seconds.
            wall, cpu, value = time.perf_counter(), time.process_time(), 0
            for i in range(2000000):
                value += i
            answer = {"times": [(time.perf_counter() - wall) / (time.process_time() - cpu)]}
    print(json.dumps(answer), flush=True)
"""


class Bench:
    """A folder with two small models and a scripted engine."""

    def __init__(self, place):
        self.place = place
        self.engine = place.script("engine.py", ENGINE)
        (place.folder / "m").mkdir()
        for name in "ab":
            subprocess.run([ASSAY, "model", "make", "squeezenet1.1", "--width", "0.1", "--resolution", "32", "-o",
                            place.folder / "m" / f"{name}.onnx"], check=True, stdout=subprocess.DEVNULL)

    def arguments(self, mode="plain", *more):
        return ["collect", "--models", "m", "--device-type", "pi", "-o", "t.csv", "--engine",
                f"{sys.executable} {self.engine} {mode}", *more]

    def rows(self):
        path = self.place.folder / "t.csv"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()))

    def keys(self):
        return [(row["model"], int(row["execution_number"])) for row in self.rows()]


@pytest.fixture
def bench(place):
    return Bench(place)


def stress_processes(place):
    return [line for line in place.leftovers().values() if "stress-ng" in line]


ALL = [(model, i) for model in "ab" for i in range(3)]


@pytest.mark.skipif(not shutil.which("stress-ng"), reason="needs stress-ng")
def test_killed_at_any_moment_it_leaves_no_process_and_goes_on_where_it_was(bench):
    arguments = bench.arguments("plain", "--iterations", 3)
    process = bench.place.start(*arguments)
    wait_until(lambda: bench.rows() and stress_processes(bench.place), 60, "a row is written and stress-ng runs")
    process.kill()
    process.communicate()
    wait_until(lambda: not bench.place.leftovers(), 10, lambda: f"all have ended: {bench.place.leftovers()}")
    before = bench.keys()
    assert 0 < len(before) < len(ALL)
    done = bench.place.assay(*arguments, timeout=120)
    assert done.returncode == 0, done.stderr
    assert bench.keys() == ALL
    assert f"{len(ALL) - len(before)} row" in done.stdout
    backgrounds = [row["background"] for row in bench.rows()]
    assert backgrounds[0] == "idle" and all("x" in text for text in backgrounds[1:3])


@pytest.mark.skipif(not shutil.which("stress-ng"), reason="needs stress-ng")
def test_ctrl_c_ends_it_at_once_and_all_that_it_started(bench):
    process = bench.place.start(*bench.arguments("plain", "--iterations", 1000))
    wait_until(lambda: stress_processes(bench.place), 60, "stress-ng runs")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "the same command goes on where it was" in err
    wait_until(lambda: not bench.place.leftovers(), 10, lambda: f"all have ended: {bench.place.leftovers()}")


def test_a_second_process_is_refused_while_the_first_collects(bench):
    process = bench.place.start(*bench.arguments("plain", "--iterations", 1000, "--load", "idle"))
    wait_until(bench.rows, 60, "a row is written")
    second = bench.place.assay(*bench.arguments("plain", "--load", "idle"))
    assert second.returncode == 4 and "this device is in use by assay collect for" in second.stderr
    second = bench.place.assay(*bench.arguments("plain", "--load", "idle", "--no-lock"))
    assert second.returncode == 4 and "another process collects into t.csv" in second.stderr
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_an_engine_that_crashes_is_recorded_and_the_next_model_measured(bench):
    done = bench.place.assay(*bench.arguments("crash", "--iterations", 3, "--load", "idle"))
    assert done.returncode == 0, done.stderr
    crashed = [row for row in bench.rows() if row["status"] == "refused"]
    assert [(row["model"], row["execution_number"]) for row in crashed] == [("a", "1")]
    assert "ended with 1: out of memory" in crashed[0]["error"]
    assert [key for key in bench.keys() if key[0] == "b"] == ALL[3:]


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="needs ffmpeg")
def test_images_are_resized_and_cropped_for_the_model(bench):
    folder = bench.place.folder / "images"
    folder.mkdir()
    for size, name in (("64x48", "a.png"), ("20x90", "b.jpg")):
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=size={size}", "-frames:v", "1",
                        folder / name], check=True)
    done = bench.place.assay(*bench.arguments("image", "--iterations", 2, "--load", "idle", "--image_path", "images"))
    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in bench.rows()] == ["ok"] * 4, bench.rows()[0]["error"]
    (folder / "a.png").write_text("no image")
    done = bench.place.assay(*bench.arguments("image", "--iterations", 3, "--load", "idle", "--image-path", "images"))
    assert done.returncode == 0 and "a.png is no image that ffmpeg can read; it was left out" in done.stderr
    assert [row["status"] for row in bench.rows()] == ["ok"] * 6, bench.rows()[-1]["error"]
    (folder / "b.jpg").unlink()
    done = bench.place.assay(*bench.arguments("image", "--iterations", 4, "--load", "idle", "--image-path", "images"))
    assert done.returncode == 2 and "a.png is no image that ffmpeg can read, and there is no other" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="quotas need root")
def test_a_quota_makes_a_slower_device_and_leaves_no_group(bench):
    done = bench.place.assay(*bench.arguments("work", "--iterations", 1, "--load", "idle", "--cpus", "0", "--quota",
                                              "0.25", "--inferences", "1"), timeout=120)
    assert done.returncode == 0, done.stderr
    row = bench.rows()[0]
    assert row["device_cpu_cores"] == "0.25" and row["threads"] == "1"
    assert float(row["execution_seconds"]) > 3
    groups = subprocess.run(["find", "/sys/fs/cgroup", "-name", "assay-share-*"], capture_output=True, text=True,
                            check=False).stdout.split()
    alive = {int(name.rsplit("-0.", 1)[1].split(".")[0]) for name in groups}
    assert all(os.path.exists(f"/proc/{pid}") for pid in alive), groups
