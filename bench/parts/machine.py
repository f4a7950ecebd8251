# SPDX-License-Identifier: Apache-2.0
"""Times on this very machine: of model families that were left out, and which of three devices made of it is fastest.
It wants the machine for itself, for about two hours. Tables stay in the work folder: a run that was stopped goes on."""
import csv
import json
import os
import random
import shutil
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

import harness

TITLE = "models on this machine"
ENGINES = ("opencv", "onnxruntime-node")
# Inferences much shorter than a turn of the scheduler (about 3 ms) take, beside other work, one turn more or none, by luck.
DRAWN, LEAST_MACS, MOST_MACS = 150, 2e8, 8e9
LOADED_EVERY, ROUNDS = 3, 5
# What keeps all cores busy twice looks no busier than once: a load is the share of them that others use.
LEVELS = ("1x100%", "2x100%")
SHORT = ("--seconds", "0.5", "--inferences", "60")
# Parts of the first two cores that stand for devices, and what keeps each busy.
SHARES = {"pair": ("--cpus", "0-1"), "single": ("--cpus", "0", "--quota", "0.6"), "part": ("--cpus", "1", "--quota", "0.35")}
BUSY = {"pair": "16x100%", "single": "3x100%", "part": "3x100%"}
# Which of them are busy when a model is to be placed, and how often: each is the fastest in some of the runs, and none in
# more than half of them.
STATES = {(): 15, ("pair",): 22, ("single",): 12, ("pair", "single"): 28, ("pair", "part"): 13, ("single", "part"): 10}
LEARNED_ON, LEARNED_MACS, RUNS = 27, (3e7, 5.5e8), 100
ASKED = {"resnet18": 128, "googlenet": 128, "densenet121": 96, "squeezenet1.0": 128, "mobilenet-v1": 160}


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


def make_set(bench, name, drawn, least, most, kept=None, without=()):
    """Generated models of so much work."""
    folder = bench.work / name
    if folder.exists():
        return folder
    part = bench.work / f"{name}.part"
    bench.command(bench.assay, "model", "make", "--set", part, "--count", drawn)
    for model in sorted(part.glob("*.onnx")):
        macs = json.loads(bench.command(bench.assay, "model", "inspect", model, "--json"))["macs"]
        if not least <= macs <= most or model.name.startswith(without):
            model.unlink()
    models = sorted(part.glob("*.onnx"))
    random.Random(name).shuffle(models)
    for model in models[kept:] if kept else []:
        model.unlink()
    part.rename(folder)
    return folder


def collect(bench, table, device, models, iterations, *more):
    bench.command(bench.assay, "collect", "--models", models, "--iterations", iterations, "--device-type", device,
                  "-o", table, *more)


def calibrate(bench, device, *share):
    if not (bench.work / "devices" / f"{device}.json").exists():
        bench.command(bench.assay, "device", "calibrate", "--name", device, *share)


def some_of(bench, models, every):
    folder = bench.work / f"{models.name}.some"
    folder.mkdir(exist_ok=True)
    for model in sorted(models.glob("*.onnx"))[::every]:
        if not (folder / model.name).exists():
            (folder / model.name).symlink_to(model)
    return folder


def left_out_families(bench):
    def measure():
        calibrate(bench, "whole")
        both = [word for engine in ENGINES for word in ("--engine", engine)]
        models = make_set(bench, "models", DRAWN, LEAST_MACS, MOST_MACS)
        loaded = some_of(bench, models, LOADED_EVERY)
        # In rounds, as what disturbs a machine lasts for seconds: a median of three in a row would hold it.
        for done in range(1, ROUNDS + 1):
            collect(bench, "idle.csv", "whole", models, done, "--load", "idle", *both, *SHORT)
            collect(bench, "loaded.csv", "whole", loaded, done * len(LEVELS), "--load", ",".join(LEVELS), *both, *SHORT)
        groups = groups_of(bench, ("idle.csv", "loaded.csv"))
        halves = {engine: halves_within_tenth(groups, engine) for engine in ENGINES}
        medians_of(groups, bench.work / "medians.csv")
        return halves, json.loads(bench.command(bench.assay, "train", "medians.csv", "-o", "whole.json", "--json"))["tasks"]

    halves, tasks = bench.once("families", measure)
    for task in tasks:
        engine = task["task"]["engine"]
        median, within = task["median_relative_error"], task["within_tenth"]
        bench.row(f"{engine}: families left out, with and without load",
                  f"median error {100 * median:.1f} %, {100 * within:.1f} % within a tenth",
                  f"{task['count'] // ROUNDS} medians of {ROUNDS} runs, {task['models']} models; of the runs themselves one half is "
                  f"within a tenth of the other in {100 * halves[engine]:.0f} %", "at most 8 %, at least 85 %",
                  median <= .08 and within >= .85)


def groups_of(bench, tables):
    """Rows by model, engine, status and background."""
    csv.field_size_limit(2**30)
    groups = {}
    for table in tables:
        with open(bench.work / table, newline="", encoding="utf-8") as text:
            for row in csv.DictReader(text):
                groups.setdefault((row["model"], row["engine"], row["status"], row["background"]), []).append(row)
    return groups


def medians_of(groups, file):
    """All rows with, in place of each run, the median of its group."""
    for group in groups.values():
        for column in ("execution_seconds", "device_load_percent") if group[0]["status"] == "ok" else ():
            median = statistics.median(float(row[column]) for row in group)
            for row in group:
                row[column] = f"{median:.9g}"
    rows = [row for group in groups.values() for row in group]
    with open(file, "w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def halves_within_tenth(groups, engine):
    """How often the median of every other run is within a tenth of that of the rest: nobody could tell half of them better."""
    shares = []
    for (_, ran_on, status, _), group in groups.items():
        seconds = [float(row["execution_seconds"]) for row in group] if status == "ok" else []
        if ran_on == engine and len(seconds) > 1:
            shares.append(abs(statistics.median(seconds[::2]) / statistics.median(seconds[1::2]) - 1) <= .1)
    return statistics.mean(shares)


def backgrounds(model, device):
    """A hundred in a row: nothing, or what keeps all cores of the device busy."""
    draw = random.Random(model)
    states = draw.choices(list(STATES), list(STATES.values()), k=RUNS)
    return ",".join(BUSY[device] if device in state else "idle" for state in states)


def on_all_shares(bench, measure):
    """The pair by itself, and then the other two beside each other, each on its own core."""
    measure("pair")
    with ThreadPoolExecutor() as pool:
        list(pool.map(measure, ("single", "part")))


def fastest_of_three(bench):
    def learn_from(models):
        def one(device):
            collect(bench, f"{device}.csv", device, models, 4, "--load", f"idle,{BUSY[device]}", *SHARES[device], *SHORT)
        return one

    def ask(model):
        folder = bench.work / f"asked {model}"
        folder.mkdir(exist_ok=True)
        if not (folder / f"{model}.onnx").exists():
            bench.command(bench.assay, "model", "make", model, "--resolution", ASKED[model], "-o", folder / f"{model}.onnx")

        def one(device):
            collect(bench, f"{device} {model}.csv", device, folder, RUNS, "--load", backgrounds(model, device),
                    *SHARES[device], "--seconds", "0.35", "--inferences", "40")
        return one

    def measure():
        for device, share in SHARES.items():
            calibrate(bench, device, *share)
        others = ("bert", "vit", "lstm", "mixed-tokens", "mixed-steps")
        on_all_shares(bench, learn_from(make_set(bench, "learned_on", 4 * LEARNED_ON, *LEARNED_MACS, LEARNED_ON, others)))
        for model in ASKED:
            on_all_shares(bench, ask(model))
        bench.command(bench.assay, "train", *(f"{device}.csv" for device in SHARES), "-o", "shares.json")
        return {model: chosen(bench, model) for model in ASKED}

    for model, found in bench.once("three devices", measure).items():
        bench.row(f"fastest of three devices under changing load: {model}", f"{found['right']} of {found['runs']} right",
                  f"always the same: {found['constant']}; mean regret {100 * found['regret']:.1f} %; published: 98 and 80",
                  "at least 98; the same always at most 50",
                  found["runs"] == RUNS and found["right"] >= 98 and found["constant"] <= 50)


def chosen(bench, model):
    """In each run, the device that is told to be fastest at the loads of that moment, beside what was measured."""
    runs = [{} for _ in range(RUNS)]
    for device in SHARES:
        with open(bench.work / f"{device} {model}.csv", newline="", encoding="utf-8") as table:
            for row in csv.DictReader(table):
                if row["status"] == "ok":
                    runs[int(row["execution_number"])][device] = row
    runs = [run for run in runs if len(run) == len(SHARES)]
    right, best, regret = 0, dict.fromkeys(SHARES, 0), 0
    for run in runs:
        seconds = {device: float(row["execution_seconds"]) for device, row in run.items()}
        loads = [word for device, row in run.items() for word in ("--load", f"{device}={row['device_load_percent']}")]
        told = json.loads(bench.command(bench.assay, "predict", f"asked {model}/{model}.onnx", "--all", "--learned", "shares.json",
                                        *loads, "--json"))
        first = next(one["node"] for one in told["placements"][0]["devices"] if one["node"] in seconds)
        fastest = min(seconds, key=seconds.get)
        right += first == fastest
        best[fastest] += 1
        regret += (seconds[first] / seconds[fastest] - 1) / len(runs)
    return {"right": right, "runs": len(runs), "constant": max(best.values()), "regret": regret}
