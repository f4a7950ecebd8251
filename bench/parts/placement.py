# SPDX-License-Identifier: Apache-2.0
"""How well times that others measured are told, in the protocols of docs/training.md."""
import concurrent.futures
import json
import os
import pathlib
import statistics

import harness

TITLE = "times of models and devices never seen"
SEEDS = range(4)
MAPPINGS = harness.ROOT / "bench" / "mappings"
COLUMNS = ("lat_p50_ms", "lat_mean_ms", "lat_p90_ms")


def run(bench):
    data = pathlib.Path(os.environ.get("ASSAY_DATA", harness.ROOT.parent / "shared" / "data")) / "latency"
    if not data.is_dir():
        print(f"  skipped: there is no {data}; ASSAY_DATA names the folder with published measurements")
        return
    program = bench.bin / "placement_accuracy"

    def ask(*words):
        return bench.once(" ".join(words), lambda: json.loads(bench.command(
            program, words[0], data / words[1], MAPPINGS / words[2], *words[3:])))

    for column in COLUMNS:
        mlperf_models(bench, ask, column)
    for column in COLUMNS:
        mlperf_devices(bench, ask, column)
    phones(bench, ask)
    cells = data / "nb201_help_27dev.csv"
    told_cells(bench, cells)
    cells_on_new_devices(bench, cells)


def mean(found, key):
    return statistics.fmean(f[key] for f in found)


def spread(found, key, digits):
    """The mean and, of several, from what to what."""
    values = [f[key] for f in found]
    text = f"{statistics.fmean(values):.{digits}f} %"
    return text if len(values) < 2 else f"{text} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def told(found):
    return f"MAPE {spread(found, 'mape', 2)}, {spread(found, 'within', 1)} within a tenth"


def verdict(column, good):
    """The row that counts is that of the median; the others are beside it."""
    return good if column == COLUMNS[0] else None


def intervals(bench, name, found):
    held = mean(found, "coverage")
    bench.row(f"{name}: 80 % intervals hold", f"{held:.1f} %", "", "77 to 83 %", 77 <= held <= 83)


def mlperf_models(bench, ask, column):
    found = [ask("models", "mlperf_edge_singlestream.csv", "mlperf.yaml", str(seed), column, "3.0", "70")
             for seed in SEEDS]
    name = f"MLPerf edge, {column}"
    good = mean(found, "mape") <= 5.5 and mean(found, "within") >= 90
    bench.row(f"{name}: unseen models", told(found), f"mean of {len(SEEDS)} foldings; baseline 7.9 %, 77.6 %",
              "at most 5.5 %, at least 90 %", verdict(column, good))
    choices = [f["fastest"] for f in found]
    right, regret = mean(choices, "right"), mean(choices, "regret")
    bench.row(f"{name}: the fastest of {choices[0]['systems']} systems",
              f"{spread(choices, 'right', 1)} right, regret {spread(choices, 'regret', 2)}",
              f"{choices[0]['items']} items; always the same: {choices[0]['constant']:.0f} %; baseline 86 %",
        "at least 92 %, at most 1 %", verdict(column, right >= 92 and regret <= 1))
    if column == COLUMNS[0]:
        intervals(bench, f"{name}: unseen models", found)


def mlperf_devices(bench, ask, column):
    name = f"MLPerf edge, {column}: unseen device"
    def tell(seed, how):
        return ask("devices", "mlperf_edge_singlestream.csv", "mlperf_systems.yaml", str(seed), column, how, "20")

    drawn = [tell(seed, "any") for seed in SEEDS]
    good = mean(drawn, "mape") <= 7.5 and mean(drawn, "within") >= 80
    bench.row(f"{name}, any 20 runs", told(drawn), f"mean of {3 * len(SEEDS)} draws; baseline 10.1 %, 66.1 %",
              "at most 7.5 %, at least 80 %", verdict(column, good))
    bench.row(f"{name}, 20 chosen runs", told([tell(0, "chosen")]))
    if column == COLUMNS[0]:
        intervals(bench, name, drawn)


def phones(bench, ask):
    found = [ask("models", "mobile_cnn_real.csv", "phones.yaml", str(seed)) for seed in SEEDS]
    good = mean(found, "mape") <= 8 and mean(found, "within") >= 75
    bench.row("phones: unseen models", told(found), f"mean of {len(SEEDS)} foldings; baseline 11.5 %, 59.9 %",
              "at most 8 %, at least 75 %", good)
    intervals(bench, "phones: unseen models", found)


def told_cells(bench, table):
    program = bench.bin / "cells_accuracy"

    def ask(device):
        return bench.once(f"cells {device}", lambda: json.loads(bench.command(program, table, device, "0")))

    names = json.loads(bench.command(program, table))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(names, pool.map(ask, names)))
    # Two of them are formulas, which have no noise.
    noisy = {name: one for name, one in found.items() if one["noise"] > 0}

    def missed(suffix):
        return [f"{name} {one['mape' + suffix]:.3g} % ({one['mape' + suffix] / one['noise' + suffix]:.2f} x)"
                for name, one in noisy.items() if one["mape" + suffix] > 1.1 * one["noise" + suffix]]

    noise, error = mean(found.values(), "noise"), mean(found.values(), "mape")
    bench.row("cells of NAS-Bench-201, 3,000: mean of the devices", f"MAPE {error:.2f} %",
              f"{mean(found.values(), 'within'):.1f} % within a tenth; noise {noise:.2f} %; baseline 3.8 %",
              f"at most 1.1 x noise: {1.1 * noise:.2f} %", error <= 1.1 * noise)
    over = missed("")
    bench.row("cells: each device", f"{len(noisy) - len(over)} of {len(noisy)} devices", "over: " + ", ".join(over),
              "at most 1.1 x noise each", not over)
    over = missed("_connected")
    bench.row("cells whose output depends on the input: each device", f"{len(noisy) - len(over)} of {len(noisy)} devices",
              "over: " + ", ".join(over))
    held = mean(found.values(), "coverage")
    bench.row("cells: 80 % intervals hold", f"{held:.1f} %", "", "77 to 83 %", 77 <= held <= 83)


def cells_on_new_devices(bench, table):
    found = bench.once("HELP", lambda: json.loads(bench.command(bench.bin / "cells_new_device", table, "10")))
    all_sources, train = found["train_and_validation"], found["train"]
    bench.row("cells, HELP's split: unseen device, 10 runs", f"Spearman {all_sources['spearman']:.3f}",
              f"deviation over 20 draws {all_sources['deviation']:.3f}; by the 9 of training alone "
              f"{train['spearman']:.3f}; baseline .908, published .932", "at least .94", all_sources["spearman"] >= .94)
