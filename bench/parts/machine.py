# SPDX-License-Identifier: Apache-2.0
"""Times on this very machine: of model families that were left out, and which of three devices made of it is fastest.
All is measured on pairs of cores, beside each other where there are several. It wants the machine for itself: for hours
with one pair, for about half an hour with eight. Tables stay in the work folder: a run that was stopped goes on."""
import csv
import json
import os
import queue
import random
import shutil
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

import harness

TITLE = "models on this machine"
ENGINES = ("opencv", "onnxruntime-node")
# Inferences much shorter than a turn of the scheduler (about 3 ms) take, beside other work, one turn more or none, by luck.
DRAWN_FOR_ONE_PAIR, MOST_DRAWN, LEAST_MACS, MOST_MACS = 200, 420, 2e8, 8e9
# How fast a shared machine is drifts by a tenth within minutes: the median of many short rounds holds little of that.
ROUNDS, LOADED_ROUNDS, LOADED_EVERY = 9, 5, 5
# What keeps all cores busy twice looks no busier than once: a load is the share of them that others use.
LEVELS = ("1x100%", "2x100%")
SHORT = ("--seconds", "0.5", "--inferences", "60")
LONG = ("--seconds", "2", "--inferences", "300")
# Parts of two cores that stand for devices, and what keeps each busy.
DEVICES = ("pair", "single", "part")
BUSY = {"pair": "16x100%", "single": "3x100%", "part": "3x100%"}
# Which of them are busy when a model is to be placed, and how often: each is the fastest in some of the runs, and none in
# more than half of them.
STATES = {(): 15, ("pair",): 22, ("single",): 12, ("pair", "single"): 28, ("pair", "part"): 13, ("single", "part"): 10}
LEARNED_ON, LEARNED_MACS, RUNS = 40, (3e7, 5.5e8), 100
ASKED = {"resnet18": 128, "googlenet": 128, "densenet121": 96, "squeezenet1.0": 128, "mobilenet-v1": 160}


def run(bench):
    if not shutil.which("stress-ng"):
        print("  skipped: background load is made by stress-ng, which is not installed")
        return
    if not pairs_of_cores():
        print("  skipped: it needs two cores")
        return
    install_engine(bench)
    left_out_families(bench)
    if os.geteuid() != 0:
        print("  three devices are skipped: their quotas need root")
        return
    fastest_of_three(bench)


def pairs_of_cores():
    cores = sorted(os.sched_getaffinity(0))
    return list(zip(cores[::2], cores[1::2]))


def share_of(device, pair):
    return {"pair": ("--cpus", f"{pair[0]},{pair[1]}"),
            "single": ("--cpus", pair[0], "--quota", 0.6),
            "part": ("--cpus", pair[1], "--quota", 0.35)}[device]


def on_pairs(work, items):
    """`work(item, pair)` for all items, each on a pair of cores that no other uses meanwhile."""
    free = queue.SimpleQueue()
    for pair in pairs_of_cores():
        free.put(pair)

    def one(item):
        pair = free.get()
        try:
            work(item, pair)
        finally:
            free.put(pair)

    with ThreadPoolExecutor(len(pairs_of_cores())) as pool:
        list(pool.map(one, items))


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
                  "-o", table, "--no-lock", *more)


def calibrate(bench, device):
    if not (bench.work / "devices" / f"{device}.json").exists():
        bench.command(bench.assay, "device", "calibrate", "--name", device, *share_of(device, pairs_of_cores()[0]))


def some_of(models, name, start, every):
    folder = models.parent / f"{models.name}.{name}"
    folder.mkdir(exist_ok=True)
    for model in sorted(models.glob("*.onnx"))[start::every]:
        if not (folder / model.name).exists():
            (folder / model.name).symlink_to(model.resolve())
    return folder


def dealt(models):
    """The models in a folder for each pair of cores."""
    count = len(pairs_of_cores())
    return [some_of(models, index, index, count) for index in range(count)]


def measure_families(bench):
    """Gives the tables."""
    both = [word for engine in ENGINES for word in ("--engine", engine)]

    def measure_some(models, pair):
        loaded, share = some_of(models, "loaded", 0, LOADED_EVERY), share_of("pair", pair)
        # In rounds, as what disturbs a machine lasts for seconds: a median of three in a row would hold it.
        for done in range(1, ROUNDS + 1):
            collect(bench, f"{models.name}.csv", "pair", models, done, "--load", "idle", *share, *both, *SHORT)
            collect(bench, f"{loaded.name}.csv", "pair", loaded, min(done, LOADED_ROUNDS) * len(LEVELS),
                    "--load", ",".join(LEVELS), *share, *both, *LONG)

    calibrate(bench, "pair")
    drawn = min(DRAWN_FOR_ONE_PAIR * len(pairs_of_cores()), MOST_DRAWN)
    parts = dealt(make_set(bench, "models", drawn, LEAST_MACS, MOST_MACS))
    on_pairs(measure_some, parts)
    return [f"{part.name}{kind}.csv" for part in parts for kind in ("", ".loaded")]


def left_out_families(bench):
    def measure():
        groups = groups_of(bench, measure_families(bench))
        halves = {engine: halves_within_tenth(groups, engine) for engine in ENGINES}
        medians_of(groups, bench.work / "medians.csv")
        return halves, json.loads(bench.command(bench.assay, "train", "medians.csv", "-o", "families.json", "--json"))["tasks"]

    halves, tasks = bench.once("families", measure)
    for task in tasks:
        engine = task["task"]["engine"]
        median, within = task["median_relative_error"], task["within_tenth"]
        bench.row(f"{engine}: families left out, with and without load",
                  f"median error {100 * median:.1f} %, {100 * within:.1f} % within a tenth",
                  f"{task['count']} runs, each the median of its kind, of {task['models']} models; of the runs themselves one half is "
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


def on_all_devices(measure, pair):
    """On both cores of the pair, and then on the other two devices beside each other, each on its own core."""
    measure("pair", *share_of("pair", pair))
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda device: measure(device, *share_of(device, pair)), ("single", "part")))


def measure_three(bench):
    """Gives the tables to learn from."""
    def learn_from(models, pair):
        def one(device, *share):
            collect(bench, f"{device} {models.name}.csv", device, models, 4, "--load", f"idle,{BUSY[device]}", *share, *SHORT)
        on_all_devices(one, pair)

    def ask(model, pair):
        folder = bench.work / f"asked {model}"
        folder.mkdir(exist_ok=True)
        if not (folder / f"{model}.onnx").exists():
            bench.command(bench.assay, "model", "make", model, "--resolution", ASKED[model], "-o", folder / f"{model}.onnx")

        def one(device, *share):
            collect(bench, f"{device} {model}.csv", device, folder, RUNS, "--load", backgrounds(model, device), *share,
                    "--seconds", "0.35", "--inferences", "40")
        on_all_devices(one, pair)

    for device in DEVICES:
        calibrate(bench, device)
    others = ("bert", "vit", "lstm", "mixed-tokens", "mixed-steps")
    parts = dealt(make_set(bench, "learned_on", 4 * LEARNED_ON, *LEARNED_MACS, LEARNED_ON, others))
    on_pairs(learn_from, parts)
    on_pairs(ask, ASKED)
    return [f"{device} {part.name}.csv" for device in DEVICES for part in parts]


def fastest_of_three(bench):
    def measure():
        bench.command(bench.assay, "train", *measure_three(bench), "-o", "shares.json")
        return {model: chosen(bench, model) for model in ASKED}

    for model, found in bench.once("three devices", measure).items():
        bench.row(f"fastest of three devices under changing load: {model}", f"{found['right']} of {found['runs']} right",
                  f"always the same: {found['constant']}; mean regret {100 * found['regret']:.1f} %; published: 98 and 80",
                  "at least 98; the same always at most 50",
                  found["runs"] == RUNS and found["right"] >= 98 and found["constant"] <= 50)


def chosen(bench, model):
    """In each run, the device that is told to be fastest at the loads of that moment, beside what was measured."""
    runs = [{} for _ in range(RUNS)]
    for device in DEVICES:
        with open(bench.work / f"{device} {model}.csv", newline="", encoding="utf-8") as table:
            for row in csv.DictReader(table):
                if row["status"] == "ok":
                    runs[int(row["execution_number"])][device] = row
    runs = [run for run in runs if len(run) == len(DEVICES)]
    right, best, regret = 0, dict.fromkeys(DEVICES, 0), 0
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
