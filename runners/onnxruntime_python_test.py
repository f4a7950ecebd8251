# SPDX-License-Identifier: Apache-2.0
"""The lines that the runner for Python speaks; the library behind it is a stand-in."""
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(name="ask")
def running(tmp_path):
    (tmp_path / "model.onnx").write_text("a model", encoding="utf-8")
    runner = subprocess.Popen([sys.executable, HERE / "onnxruntime_python.py"], cwd=tmp_path, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": str(HERE / "testing")})

    def ask(line=None):
        if line is not None:
            print(line if isinstance(line, str) else json.dumps(line), file=runner.stdin, flush=True)
        return json.loads(runner.stdout.readline())

    assert ask() == {"engine": "onnxruntime", "version": "stand-in"}
    yield ask
    runner.stdin.close()
    assert runner.wait(10) == 0, "it ends when its input does"


LOAD = {"do": "load", "file": "model.onnx", "threads": 1, "shapes": {"image": [3, 2]}}


def test_loads_and_runs(ask, tmp_path):
    loaded = ask(LOAD)
    assert loaded["inputs"] == [{"name": "image", "type": "float32", "shape": [3, 2]}]
    assert not loaded["gpu"]
    numpy.array([1, 2, 3, 4, 5, 6], numpy.float32).tofile(tmp_path / "values")
    times = ask({"do": "run", "count": 4, "seconds": 60, "input": "values", "output": "results"})["times"]
    assert len(times) == 4 and min(times) > 0
    assert list(numpy.fromfile(tmp_path / "results", numpy.float32)) == [3, 7, 11]
    assert len(ask({"do": "run", "count": 4, "seconds": 0, "seed": 2})["times"]) == 1, "at least once"


def test_tells_what_operators_take_without_the_first_inference(ask):
    ask(LOAD)
    told = ask({"do": "profile", "count": 2, "seconds": 60})
    assert len(told["times"]) == 2
    took = {one["name"]: one["seconds"] for one in told["operators"]}
    assert took == pytest.approx({"Relu_1_nchwc": 12e-6, "MaxPool_2_nchwc": 4.5e-6})


def test_what_goes_wrong_is_an_answer_and_the_next_line_is_heard(ask, tmp_path):
    (tmp_path / "other.onnx").write_text("a poem", encoding="utf-8")
    for line in ("no JSON", {"do": "sing"}, {"do": "run", "count": 1, "seconds": 1}, {**LOAD, "file": "other.onnx"},
                 {**LOAD, "file": "none.onnx"}):
        assert list(ask(line)) == ["error"], line
    assert "cannot use a GPU" in ask({**LOAD, "gpu": True})["error"]
    assert "inputs" in ask(LOAD)
