"""`hexsim bench --images`: answers compared on, and calibrated on, the user's pictures."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.pages import ROOT
from tests.cli.conftest import Done

BENCH = "bench --chip sd835 --model squeezenet1_1 --runtime dsp"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two smooth pictures in photos/."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for index in range(2):
        few = np.random.default_rng(index).integers(0, 256, (6, 6, 3), np.uint8)
        whole = Image.fromarray(few).resize((224, 224), Image.Resampling.BICUBIC)
        whole.save(folder / f"{index}.png")
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("photos")
def test_answers_are_compared_on_the_pictures(command: Callable[[str], Done]) -> None:
    how = "--mean 123.7,116.3,103.5 --std 58"
    prepared = command(f"prepare photos --model squeezenet1_1 {how}")
    assert prepared.code == 0
    calibrated = command(
        f"validate --chip sd835 squeezenet1_1 --calibration-list photos --images photos {how}"
    )
    assert "on 2 pictures of 'photos': 2 inputs calibrate, 2 others judge\n" in calibrated.out
    accuracies = {}
    for name, given in (
        ("pictures", f"--images photos {how}"),
        ("list", "--input-list prepared/raw_list.txt"),
    ):
        done = command(f"{BENCH} {given} --json {name}.json")
        assert done.code == 0, done.err
        whole = json.loads(Path(f"{name}.json").read_text())
        (case,) = whole["results"]
        accuracies[name] = case["accuracy"]
    assert "1 input calibrates, 1 other judges." in command(f"{BENCH} --images photos {how}").out
    second = "the 2nd, 4th, ... of"
    assert accuracies["pictures"].pop("compared_on") == f"{second} 2 pictures of 'photos'"
    assert accuracies["list"].pop("compared_on") == f"{second} inputs of 'prepared/raw_list.txt'"
    assert accuracies["pictures"] == accuracies["list"]
    assert accuracies["list"]["inputs"] == 1


def test_right_answers_of_a_trained_network(command: Callable[[str], Done]) -> None:
    """As `validate` counts them on each runtime."""
    folder = ROOT / "examples/digits"
    given = f"{folder}/digits.onnx --images {folder}/photos --std 255 --labels {folder}/named.txt"
    calibrated = f"--calibration-list {folder}/photos"
    done = command(f"bench --chip sd835 {given} {calibrated} --runtime cpu,dsp --json b.json")
    right = {}
    for case in json.loads(Path("b.json").read_text())["results"]:
        runtime, accuracy = case["runtime"], case["accuracy"]
        more = calibrated if runtime == "dsp" else ""
        assert (
            command(f"validate --chip sd835 {given} {more} --runtime {runtime} --json v.json").code
            == 0
        )
        hits = json.loads(Path("v.json").read_text())["hits"]
        right[runtime] = f"{hits['runtime_top1']}/{hits['inputs']}"
        assert accuracy["top1_right"] == hits["runtime_top1"]
        assert accuracy["float_top1_right"] == hits["float_top1"]
    (row,) = (line for line in done.out.splitlines() if line.startswith("right top-1"))
    assert row.split()[2:] == ["(float:", f"{right['cpu']})", right["cpu"], right["dsp"]]


@pytest.mark.usefixtures("photos")
def test_mistakes(refused: Callable[[str], str]) -> None:
    assert "leave one out" in refused(f"{BENCH} --images photos --input-list x.txt")
    assert "--timing-only leaves out" in refused(f"{BENCH} --images photos --timing-only")
    assert "are for pictures" in refused(f"{BENCH} --mean 3")
    assert "--labels goes with inputs" in refused(f"{BENCH} --labels x.txt")
    assert "--calibration-list goes with inputs" in refused(f"{BENCH} --calibration-list photos")


def test_a_network_without_classes_has_no_top_1(command: Callable[[str], Done]) -> None:
    done = command("bench --chip sd835 --model dronet_112 --runtime dsp --json b.json")
    assert "SQNR of the outputs (dB)" in done.out
    assert "same top-1" not in done.out
    assert "dronet_112 scores no classes, so it has no top-1." in done.out
    (case,) = json.loads(Path("b.json").read_text())["results"]
    assert case["accuracy"]["top1_agreement"] is None is case["accuracy"]["top1_margin_ratio"]
    assert case["accuracy"]["sqnr_db"] > 10
