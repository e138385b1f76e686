from typing import Any

import pytest

from hexsim.datasheets.quantity import Bytes, Fraction, Hertz, Quantity
from hexsim.errors import HexsimError
from hexsim.texts.tables import Table, read


class Part(Table):
    clock_hz: Hertz
    size_bytes: Bytes
    share: Fraction


def constant(value: float, unit: str, **changes: Any) -> dict[str, Any]:
    return {"value": value, "unit": unit, "source": "a book", "confidence": "documented"} | changes


def part(**changes: Any) -> Part:
    tree = {
        "clock_hz": constant(9e8, "Hz"),
        "size_bytes": constant(1024, "B"),
        "share": constant(0.5, "1"),
    }
    return read(Part, tree | changes, "a file")


def test_a_field_reads_as_a_plain_number_of_its_own_type() -> None:
    made = part()
    assert made.clock_hz == 9e8
    assert made.size_bytes == 1024
    assert type(made.size_bytes) is int
    assert type(made.clock_hz) is float


@pytest.mark.parametrize(
    "size",
    [
        1024,
        constant(1024, "kB"),
        constant(1.5, "B"),
        constant(-1, "B"),
        constant(float("nan"), "B"),
        constant(1024, "B", source=""),
        constant(1024, "B", confidence="certain"),
        constant(1024, "B", note="nothing else fits"),
        {"value": 1024, "unit": "B", "confidence": "documented"},
    ],
)
def test_a_number_without_a_proper_owner_is_refused(size: Any) -> None:
    with pytest.raises(HexsimError):
        part(size_bytes=size)


@pytest.mark.parametrize("value", [0.0, 1.01])
def test_the_field_bounds_the_value(value: float) -> None:
    with pytest.raises(HexsimError):
        part(share=constant(value, "1"))


@pytest.mark.parametrize("confidence", ["assumed", "calibrated"])
def test_a_swept_constant_must_lie_between_its_bounds(confidence: str) -> None:
    read(Quantity, constant(2, "s", confidence=confidence, low=1, high=3), "a file")
    for bounds in ({}, {"low": 1}, {"high": 3}, {"low": 2.5, "high": 3}, {"low": 1, "high": 1.5}):
        with pytest.raises(HexsimError, match="low <= value <= high"):
            read(Quantity, constant(2, "s", confidence=confidence, **bounds), "a file")


@pytest.mark.parametrize("confidence", ["documented", "inferred"])
def test_a_constant_that_is_not_swept_carries_no_bounds(confidence: str) -> None:
    with pytest.raises(HexsimError, match="no low and high"):
        read(Quantity, constant(2, "s", confidence=confidence, low=1, high=3), "a file")
