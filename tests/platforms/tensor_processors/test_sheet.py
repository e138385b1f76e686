"""The files of the tensor processors."""

from __future__ import annotations

import pytest

from hexsim.errors import HexsimError
from hexsim.platforms import tensor_processors


def test_the_processors() -> None:
    """Those of the measured rows, and two that follow from public constants."""
    assert tensor_processors.names() == (
        "qcm6490",
        "qcs8550",
        "sd8gen1",
        "sd8gen2",
        "sd8gen3",
        "sd8gen4",
    )


@pytest.mark.parametrize("name", tensor_processors.names())
def test_every_bound_is_a_valid_processor(name: str) -> None:
    """So that a sweep may go there."""
    sheet = tensor_processors.load(name)
    for path, quantity in sheet.quantities():
        for bound in (quantity.low, quantity.high):
            if bound is not None:
                sheet.with_value(path, bound)


def test_at_most_five_constants_of_the_family_are_calibrated() -> None:
    """Beside those of a release."""
    fitted = {
        path
        for name in tensor_processors.names()
        for path, quantity in tensor_processors.load(name).quantities()
        if quantity.confidence == "calibrated" and not path.startswith("release.")
    }
    assert len(fitted) == 5


def test_a_chip_without_one_is_refused() -> None:
    """By its name."""
    with pytest.raises(HexsimError, match="unknown tensor processor 'sd855'"):
        tensor_processors.load("sd855")
