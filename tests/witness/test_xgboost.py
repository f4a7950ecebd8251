# SPDX-License-Identifier: Apache-2.0
"""Python's xgboost loads what `assay train` writes and tells the same."""
import json
import math
import os
import pathlib
import random
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
BIN = pathlib.Path(os.environ.get("ASSAY_BIN", HERE.parent.parent / "build/release/bin"))
WORKLOAD = ("macs_conv1x1 macs_conv3x3 macs_conv_other macs_depthwise macs_grouped macs_matmul macs_other "
            "macs_few_channels bytes_conv bytes_depthwise bytes_matmul bytes_other weight_bytes activation_bytes "
            "peak_activation_bytes operators conv_operators depthwise_operators matmul_operators").split()
ASK = """
import json, sys
import numpy, xgboost
model = xgboost.Booster(model_file=sys.argv[1])
rows = xgboost.DMatrix(numpy.array(json.load(sys.stdin), dtype=numpy.float32), feature_names=model.feature_names)
print(json.dumps({"names": model.feature_names, "told": model.predict(rows).tolist()}))
"""


@pytest.fixture(scope="module")
def python_with_xgboost():
    made = subprocess.run([HERE / "xgboost_root.sh", BIN.parent / "witness/xgboost"], capture_output=True, text=True)
    if made.returncode == 77:
        pytest.skip("Debian's packages of XGBoost cannot be fetched: " + made.stderr)
    assert made.returncode == 0, made.stderr
    packages, libraries = made.stdout.split()
    return dict(os.environ, PYTHONPATH=packages, LD_LIBRARY_PATH=libraries)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """Learned from devices that suffer each in its own way from a load."""
    folder = tmp_path_factory.mktemp("train")
    draw = random.Random(1)
    with open(folder / "runs.csv", "w", encoding="utf-8") as out:
        print("device,device_cpu_cores,device_load_percent,engine,precision,model,execution_seconds,conv_layers",
              *WORKLOAD, sep=",", file=out)
        for number in range(15):
            macs = 1e7 * math.exp(4 * draw.random())
            work = [0.0] * len(WORKLOAD)
            work[1], work[8], work[13], work[15] = macs, macs / 10, macs / 20, 20 + number
            for device, cores, flops, suffers in (("pi", 4, 1e10, 1.0), ("pc", 8, 1e11, 0.5)):
                for load in (0, 20, 50, 80, 95):
                    seconds = macs / flops / (1 - suffers * load / 110) * draw.uniform(.98, 1.02)
                    print(device, cores, load, "opencv", "float32", f"m{number}", seconds, number, *work, sep=",", file=out)
    subprocess.run([BIN / "assay", "train", "runs.csv", "-o", "model.json"], cwd=folder, check=True, capture_output=True)
    return folder / "model.json"


def test_pythons_xgboost_loads_the_model_file_and_tells_the_same(python_with_xgboost, model_file):
    names = json.loads(model_file.read_text())["learner"]["feature_names"]
    draw = random.Random(2)
    rows = [[draw.choice([draw.random(), draw.uniform(0, 20), -draw.random(), math.nan]) for _ in names]
            for _ in range(1000)]
    asked = subprocess.run(["/usr/bin/python3", "-c", ASK, model_file], env=python_with_xgboost, input=json.dumps(rows),
                           capture_output=True, text=True, check=False)
    assert asked.returncode == 0, asked.stderr
    theirs = json.loads(asked.stdout)
    assert theirs["names"] == names
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    ours = subprocess.run([BIN / "tell_trees", model_file], input=text, capture_output=True, text=True, check=True)
    told = [float(line) for line in ours.stdout.split()]
    assert len(set(theirs["told"])) > 100, "rows that are all alike would say nothing"
    assert told == pytest.approx(theirs["told"], rel=1e-5, abs=1e-6)
