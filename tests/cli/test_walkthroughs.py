"""The walk-throughs of docs/concepts/pictures.md, followed as typed on made-up photos."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.pages import CONCEPTS
from tests.cli.conftest import Done

BLOCKS = re.findall(r"```\n(.*?)```", (CONCEPTS / "pictures.md").read_text("utf-8"), re.DOTALL)


@pytest.fixture
def follow(command: Callable[[str], Done], tmp_path: Path) -> Callable[[str], str]:
    """Runs the block that converts a network, beside two photos; returns all it printed."""
    (tmp_path / "photos").mkdir()
    for index, size in enumerate([(640, 480), (375, 500)]):
        few = np.random.default_rng(index).integers(0, 256, (8, 8, 3), np.uint8)
        whole = Image.fromarray(few).resize(size, Image.Resampling.BICUBIC)
        whole.save(tmp_path / "photos" / f"photo {index}.jpg")
    mean = 110.0 + np.arange(3)[:, None, None] + np.zeros((3, 256, 256))
    np.save(tmp_path / "ilsvrc_2012_mean.npy", mean)
    names = "".join(f"class {n}\n" for n in range(1000))
    (tmp_path / "ilsvrc_2012_labels.txt").write_text(names)

    def run(network: str) -> str:
        block = next(text for text in BLOCKS if text.startswith(f"hexsim convert {network} "))
        printed = ""
        for line in block.splitlines():
            program, _, words = line.partition(" ")
            assert program == "hexsim"
            done = command(words)
            assert done.code == 0, (line, done.err)
            printed += done.out
        return printed

    return run


@pytest.mark.slow
def test_alexnet(follow: Callable[[str], str]) -> None:
    printed = follow("alexnet")
    *table, last = printed.split("Classification results\n")[1].splitlines()
    assert len(table) == 2 * 5
    assert "wrote 2 results" in last
    assert re.fullmatch(r"cropped/photo_0\.raw 0\.\d{6} +(\d+) class \1", table[0])
    assert Path("cropped/photo_0.raw").stat().st_size == 4 * 227 * 227 * 3


@pytest.mark.slow
def test_inception(follow: Callable[[str], str]) -> None:
    printed = follow("inception_v3")
    rows = list(csv.DictReader(Path("answers.csv").read_text().splitlines()))
    assert [row["place"] for row in rows] == list("12345") * 2
    assert {row["file"] for row in rows} == {"photos/photo 0.jpg", "photos/photo 1.jpg"}
    assert "on 2 pictures of 'photos'" in printed
