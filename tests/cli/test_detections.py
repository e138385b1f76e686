"""`hexsim detections`: mean average precision of raw results against annotations."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.conftest import Done

LINE = "detections output --truth truth.json --input-list list.txt --fit stretch"
BOXES = [(10.0, 20.0, 30.0, 40.0), (100.0, 50.0, 60.0, 20.0)]
"""Two objects on a picture of 200 x 100 pixels: left, top, width, height."""


def truth(**changes: Any) -> None:
    """truth.json: BOXES of category 1 on 'a cat.jpg'."""
    image = {"id": 7, "file_name": "a cat.jpg", "width": 200, "height": 100}
    notes = [{"id": n, "image_id": 7, "category_id": 1, "bbox": b} for n, b in enumerate(BOXES)]
    whole = {"images": [image], "annotations": notes, "categories": [{"id": 1, "name": "cat"}]}
    Path("truth.json").write_text(json.dumps({**whole, **changes}))


def result(
    *detections: tuple[tuple[float, ...], float], folder: str = "output", label: int = 0
) -> None:
    """One picture's boxes (pixels of the picture) with their scores, and a box that fills up."""
    place = Path(folder, "Result_0")
    place.mkdir(parents=True)
    sides = [
        (top / 100, left / 200, (top + high) / 100, (left + wide) / 200)
        for (left, top, wide, high), _ in detections
    ]
    np.array([*sides, (0, 0, 0, 0)], np.float32).tofile(place / "boxes.raw")
    np.array([*(score for _, score in detections), 0], np.float32).tofile(place / "scores.raw")
    np.array([label] * (len(detections) + 1), np.float32).tofile(place / "classes.raw")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("#layer\nprepared/a_cat.raw\n")
    truth()


def test_a_false_box_between_two_right_ones(command: Callable[[str], Done]) -> None:
    """By hand: precision 1 up to a recall of a half (51 of 101 points), then 2/3."""
    pytest.importorskip("pycocotools")
    result((BOXES[0], 0.9), ((150.0, 0.0, 20.0, 20.0), 0.8), (BOXES[1], 0.7))
    result((BOXES[0], 0.9), (BOXES[1], 0.8), folder="better")
    done = command(
        LINE.replace("output", "output better") + " --first-class 1 --json p.json --csv p.csv"
    )
    assert (done.code, done.err) == (0, "")
    expected = (51 + 50 * 2 / 3) / 101
    first, second = json.loads(Path("p.json").read_text())["precision"]
    for key in ("mean_average_precision", "average_precision_50", "average_precision_75"):
        assert first[key] == pytest.approx(expected)
        assert second[key] == pytest.approx(1)
    assert (first["detections"], second["detections"]) == (3, 2)
    rows = list(csv.DictReader(Path("p.csv").read_text().splitlines()))
    assert float(rows[0]["mean_average_precision"]) == pytest.approx(expected)
    table = done.out.splitlines()
    assert table[2].split() == ["output", "83.5%", "83.5%", "83.5%", "3"]
    assert table[3].split() == ["better", "100%", "100%", "100%", "2"]


def test_boxes_of_the_middle_are_moved_to_the_picture(command: Callable[[str], Done]) -> None:
    """Of 200 x 100 pixels a square input sees those from 50 to 150."""
    pytest.importorskip("pycocotools")
    truth(annotations=[{"image_id": 7, "category_id": 1, "bbox": (100, 50, 25, 10)}])
    place = Path("output/Result_0")
    place.mkdir(parents=True)
    np.array([(0.5, 0.5, 0.75, 0.6)], np.float32).tofile(place / "b.raw")
    np.array([0.5], np.float32).tofile(place / "scores.raw")
    np.array([1], np.float32).tofile(place / "classes.raw")
    line = "detections output --truth truth.json --input-list list.txt --boxes b --box-order xyxy"
    done = command(f"{line} --size 300")
    assert "100%" in done.out
    assert "100%" not in command(f"{line} --fit stretch").out
    for file, options, exact in (("m.dlc", "", True), ("s.dlc", "--fit stretch", False)):
        assert command(f"convert squeezenet1_1 -o {file} {options}").code == 0
        assert ("100%" in command(f"{line} --model {file}").out) == exact
    refusal = command(f"{line} --model m.dlc --size 300")
    assert (refusal.code, "leave one out" in refusal.err) == (2, True)


def test_pictures_that_show_nothing(command: Callable[[str], Done]) -> None:
    pytest.importorskip("pycocotools")
    truth(annotations=[])
    result(label=1)
    done = command(f"{LINE} --json p.json")
    assert done.out.splitlines()[2].split() == ["output", "-", "-", "-", "0"]
    assert json.loads(Path("p.json").read_text())["precision"][0]["detections"] == 0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (LINE, "class 0, and the annotations no category 0; say where classes begin"),
        (f"{LINE} --boxes other", "cannot read 'output/Result_0/other.raw': No such file"),
        (f"{LINE} --scores boxes", "a box has four numbers, one score and one class"),
        (LINE.replace(" --fit stretch", ""), "its --size, or --fit stretch"),
        (LINE.replace("--input-list list.txt", ""), "give one of them"),
        (LINE.replace("truth.json", "none.json"), "cannot read annotations 'none.json'"),
        (LINE.replace("truth.json", "list.txt"), "annotations 'list.txt'"),
        (LINE.replace("list.txt", "other.txt"), "no image for 'dog.raw'; leave that input out"),
        (LINE.replace("truth.json", "bad.json"), "key 'annotations.0.bbox.2' is -1"),
        (LINE.replace("truth.json", "lost.json"), "image_id 8 is that of nothing in the file"),
    ],
)
def test_mistakes(refused: Callable[[str], str], line: str, sentence: str) -> None:
    result((BOXES[0], 0.9))
    Path("other.txt").write_text("dog.raw\n")
    whole = json.loads(Path("truth.json").read_text())
    whole["annotations"][0]["bbox"][2] = -1
    Path("bad.json").write_text(json.dumps(whole))
    whole["annotations"] = [{"image_id": 8, "category_id": 1, "bbox": BOXES[0]}]
    Path("lost.json").write_text(json.dumps(whole))
    assert sentence in refused(line)


def test_without_the_library(refused: Callable[[str], str], monkeypatch: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pycocotools.coco", None)
    result((BOXES[0], 0.9))
    assert "[detection]'" in refused(f"{LINE} --first-class 1")
