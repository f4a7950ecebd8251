# SPDX-License-Identifier: Apache-2.0
"""Times on this very machine: of model families that were left out, and which of three devices made of it is fastest.
It wants the machine for itself, for about 70 minutes. Tables stay in the work folder: a run that was stopped goes on."""
import csv
import json
import os
import random
import shutil
import statistics
import subprocess

import harness

TITLE = "models on this machine"
ENGINES = ("opencv", "onnxruntime-node")
MODELS, LOADED, ROUNDS = 60, 30, 3
LEVELS = ("idle", "1x50%", "1x100%", "2x50%", "2x100%")
SHORT = ("--seconds", "0.5", "--inferences", "60")
# Parts of the first two cores that stand for devices, and how often each is busy when a model is to be placed: the
# fastest is seldom free, so that no device is the best choice in more than half of the runs.
SHARES = {"pair": ("--cpus", "0-1"), "single": ("--cpus", "0"), "part": ("--cpus", "1", "--quota", "0.8")}
BUSY = {"pair": ("2x100%", 0.75), "single": ("1x100%", 0.5), "part": ("1x80%", 0.5)}
LEARNED_ON, RUNS = 30, 100
ASKED = ("resnet18", "mobilenet-v1", "squeezenet1.0", "googlenet", "densenet121")


def run(bench):
    if not shutil.which("stress-ng"):
        print("  skipped: background load is made by stress-ng, which is not installed")
        return
    install_engine(bench)
    left_out_families(bench)
    if len(os.sched_getaffinity(0)) < 2 or os.geteuid() != 0:
        print("  three devices are skipped: they need two cores, and root for their quotas")
        return
    fastest_of_three(bench)


def install_engine(bench):
    folder = bench.bin.parent / "onnxruntime"
    subprocess.run([harness.ROOT / "tools" / "onnxruntime.sh", folder], check=True)
    os.environ["ASSAY_ORT"] = str(folder)


def make_set(bench, name, count):
    folder = bench.work / name
    if not folder.exists():
        bench.command(bench.assay, "model", "make", "--set", f"{name}.part", "--count", count)
        (bench.work / f"{name}.part").rename(folder)
    return folder


def collect(bench, table, device, models, iterations, *more):
    bench.command(bench.assay, "collect", "--models", models, "--iterations", iterations, "--device-type", device,
                  "-o", table, *more)


def calibrate(bench, device, *share):
    if not (bench.work / "devices" / f"{device}.json").exists():
        bench.command(bench.assay, "device", "calibrate", "--name", device, *share)


def left_out_families(bench):
    def measure():
        calibrate(bench, "whole")
        both = [word for engine in ENGINES for word in ("--engine", engine)]
        # In rounds, as what disturbs a machine lasts for seconds: a median of three in a row would hold it.
        for done in range(1, ROUNDS + 1):
            collect(bench, "idle.csv", "whole", make_set(bench, "models", MODELS), done, "--load", "idle", *both, *SHORT)
        for done in range(1, ROUNDS + 1):
            collect(bench, "loaded.csv", "whole", make_set(bench, "loaded", LOADED), done * len(LEVELS), "--load",
                    ",".join(LEVELS), *both, *SHORT)
        medians_of(bench, ("idle.csv", "loaded.csv"), "medians.csv")
        return json.loads(bench.command(bench.assay, "train", "medians.csv", "-o", "whole.json", "--json"))

    for task in bench.once("families", measure)["tasks"]:
        median, within = task["median_relative_error"], task["within_tenth"]
        bench.row(f"{task['task']['engine']}: families left out, with and without load",
                  f"median error {100 * median:.1f} %, {100 * within:.1f} % within a tenth",
                  f"{task['count']} medians of {ROUNDS} runs, {task['models']} models", "at most 8 %, at least 85 %",
                  median <= .08 and within >= .85)


def medians_of(bench, tables, file):
    """One row for all runs of a model on an engine beside the same background."""
    groups = {}
    for table in tables:
        with open(bench.work / table, newline="", encoding="utf-8") as text:
            for row in csv.DictReader(text):
                groups.setdefault((row["model"], row["engine"], row["status"], row["background"]), []).append(row)
    rows = []
    for group in groups.values():
        row = dict(group[0])
        if row["status"] == "ok":
            for column in ("execution_seconds", "device_load_percent"):
                row[column] = f"{statistics.median(float(one[column]) for one in group):.9g}"
        rows.append(row)
    with open(bench.work / file, "w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def backgrounds(device):
    """A hundred in a row: free, or busy on all of its cores."""
    draw = random.Random(device)
    work, share = BUSY[device]
    return ",".join(work if draw.random() < share else "idle" for _ in range(RUNS))


def fastest_of_three(bench):
    def measure():
        models = make_set(bench, "learned_on", LEARNED_ON)
        asked = bench.work / "asked"
        asked.mkdir(exist_ok=True)
        for model in ASKED:
            if not (asked / f"{model}.onnx").exists():
                bench.command(bench.assay, "model", "make", model, "-o", asked / f"{model}.onnx")
        for device, share in SHARES.items():
            calibrate(bench, device, *share)
            collect(bench, "shares.csv", device, models, 4, "--load", f"idle,{BUSY[device][0]}", *share, *SHORT)
            collect(bench, "asked.csv", device, asked, RUNS, "--load", backgrounds(device), "--seconds", "0.4",
                    "--inferences", "40", *share)
        bench.command(bench.assay, "train", "shares.csv", "-o", "shares.json")
        return {model: chosen(bench, model) for model in ASKED}

    for model, found in bench.once("three devices", measure).items():
        bench.row(f"fastest of three devices under changing load: {model}", f"{found['right']} of {found['runs']} right",
                  f"always the same: {found['constant']}; mean regret {100 * found['regret']:.1f} %; published: 98 and 80",
                  "at least 98; the same always at most 50",
                  found["runs"] == RUNS and found["right"] >= 98 and found["constant"] <= 50)


def chosen(bench, model):
    """In each run, the device that is told to be fastest at the loads of that moment, beside what was measured."""
    with open(bench.work / "asked.csv", newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["model"] == model and row["status"] == "ok"]
    runs = [{row["device"]: row for row in rows if row["execution_number"] == str(number)} for number in range(RUNS)]
    right, best, regret = 0, dict.fromkeys(SHARES, 0), 0
    for run in runs:
        seconds = {device: float(row["execution_seconds"]) for device, row in run.items()}
        loads = [word for device, row in run.items() for word in ("--load", f"{device}={row['device_load_percent']}")]
        told = json.loads(bench.command(bench.assay, "predict", f"asked/{model}.onnx", "--all", "--learned", "shares.json",
                                        *loads, "--json"))
        first = next(one["node"] for one in told["placements"][0]["devices"] if one["node"] in seconds)
        fastest = min(seconds, key=seconds.get)
        right += first == fastest
        best[fastest] += 1
        regret += (seconds[first] / seconds[fastest] - 1) / len(runs)
    return {"right": right, "runs": len(runs), "constant": max(best.values()), "regret": regret}
