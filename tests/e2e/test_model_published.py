# SPDX-License-Identifier: Apache-2.0
"""`assay model inspect` of networks that `assay model make` writes, against what is published about them.

Trained parameters and billions of multiplications with additions, as torchvision documents its weights, but for MobileNet v1
(arXiv 1704.04861) and ViT-Ti (timm)."""
import json
import subprocess

import pytest
from conftest import BIN

PUBLISHED = {
    "resnet18": (11689512, 1.814), "resnet34": (21797672, 3.664), "resnet50": (25557032, 4.089),
    "mobilenet-v1": (4.2e6, 0.569), "mobilenet-v2": (3504872, 0.301), "mobilenet-v3-large": (5483032, 0.217),
    "mobilenet-v3-small": (2542856, 0.057), "squeezenet1.0": (1248424, 0.819), "squeezenet1.1": (1235496, 0.349),
    "densenet121": (7978856, 2.834), "densenet169": (14149480, 3.36), "densenet201": (20013928, 4.291),
    "efficientnet-b0": (5288548, 0.386), "efficientnet-b1": (7794184, 0.687), "efficientnet-b3": (12233232, 1.827),
    "shufflenet1.0": (2278604, 0.145), "shufflenet2.0": (7393996, 0.583), "googlenet": (6624904, 1.498),
    "vit-ti": (5.72e6, 1.26),
}


@pytest.mark.parametrize("network", PUBLISHED)
def test_parameters_and_work_are_within_one_percent(tmp_path, network):
    file = tmp_path / "model.onnx"
    subprocess.run([BIN / "assay", "model", "make", network, "-o", file], check=True, capture_output=True, timeout=60)
    told = subprocess.run([BIN / "assay", "model", "inspect", file, "--json"], check=True, capture_output=True, timeout=60)
    file.unlink()
    model = json.loads(told.stdout)
    parameters, gmacs = PUBLISHED[network]
    assert model["trainable_parameters"] == pytest.approx(parameters, rel=0.01)
    assert model["macs"] / 1e9 == pytest.approx(gmacs, rel=0.01)
    assert model["total_parameters"] >= model["trainable_parameters"]
    assert not model["unknown_operators"]
