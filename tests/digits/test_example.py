"""The folder of the tutorial holds what its program makes."""

from __future__ import annotations

import numpy as np
import onnx
from PIL import Image

from tests.digits.data import digits
from tests.digits.example import CALIBRATION, FOLDER, NAMES, PHOTOS, named, network

RENEW = "python -m tests.digits.example --write"


def test_the_network_is_that_of_the_program() -> None:
    assert onnx.load(FOLDER / "digits.onnx") == network(), RENEW


def test_the_lists_are_those_of_the_program() -> None:
    assert (FOLDER / "named.txt").read_text(encoding="utf-8") == named(), RENEW
    assert tuple((FOLDER / "digits.txt").read_text(encoding="utf-8").split()) == NAMES


def test_the_pictures_are_the_digits_enlarged() -> None:
    for name, chosen in (("photos", PHOTOS), ("calibration", CALIBRATION)):
        files = sorted((FOLDER / name).glob("*.png"))
        assert [int(file.stem) for file in files] == [*chosen]
        for at, file in zip(chosen, files, strict=True):
            small = Image.open(file).resize((8, 8), Image.Resampling.BILINEAR)
            away = np.abs(np.asarray(small) / 255 - digits().test_images[:, 0])
            assert away.mean(axis=(1, 2)).argmin() == at, "no other digit is nearer"
