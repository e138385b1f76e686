"""Photographs from a folder through a trained network, one by one and in batches."""

import shutil
from pathlib import Path

import pytest

import hexsim
from hexsim.accuracy.classes import read_labels
from hexsim.accuracy.validation import validate
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.pictures import pictures
from hexsim.quantization.model import require_float
from hexsim.quantization.quantizer import quantize
from hexsim.results.validation import Validation
from tests.deployed import deployed


@pytest.fixture
def photos(real_data: Path, tmp_path: Path) -> Path:
    """The photographs with a certain label, and labels.txt."""
    source = real_data / "coco_permissive"
    rows = [line.split(",")[:2] for line in (source / "labels.csv").read_text().splitlines()[1:]]
    certain = [(name, label) for name, label in rows if label != "-1"]
    for name, _ in certain:
        shutil.copy(source / name, tmp_path)
    (tmp_path / "labels.txt").write_text("".join(f"{name} {label}\n" for name, label in certain))
    return tmp_path


def _validated(model: Path, folder: Path, batch: int) -> Validation:
    network = require_float(hexsim.load(model, input_dims={"input": (batch, 3, 96, 96)}))
    source = pictures(folder, network, PictureSteps(std=(255.0,), fit="stretch"))
    labels = read_labels(folder / "labels.txt", source.items, network, source.names, batch)
    return validate(
        deployed(quantize(network, source.feeds()), "dsp", "sd855"),
        source.feeds(),
        labels=labels,
        batch=batch,
        items=source.items,
    )


@pytest.mark.slow
def test_persons_are_found_on_photographs(real_data: Path, photos: Path) -> None:
    folder = real_data / "vww_mobilenetv1_025_96"
    single = _validated(folder / "vww_mobilenetv1_025_96.onnx", photos, 1)
    assert single.hits.inputs == 15
    assert single.hits.float_top1 >= 14
    assert single.hits.runtime_top1 >= 14
    assert single.rescaled_weights, "weights are asymmetric and the kernels signed"
    batched = _validated(folder / "vww_mobilenetv1_025_96.onnx", photos, 4)
    assert batched.hits == single.hits
