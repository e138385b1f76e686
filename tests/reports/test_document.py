"""Results become data: attributes by name, units in the keys, nothing that JSON does not have."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from hexsim import __version__
from hexsim.reports.document import attributes, json_document, plain


@dataclass(frozen=True)
class Part:
    name: str
    busy_ps: int


@dataclass(frozen=True)
class Run:
    part: Part
    parts_ps: dict[str, int]
    calls_ps: tuple[int, ...]
    ratio: float = 0.5


RUN = Run(Part("copy", 2_500_000), {"copy": 1_000_000}, (3_000_000, 1_500_000))


def test_attributes_keep_their_order_and_their_names() -> None:
    facts = attributes(RUN, "ratio", "part", first="part.name")
    assert list(facts) == ["ratio", "part", "first"]
    assert facts == {"ratio": 0.5, "part": {"name": "copy", "busy_ps": 2_500_000}, "first": "copy"}


def test_picoseconds_become_microseconds_under_a_key_that_says_so() -> None:
    facts = attributes(RUN, busy_us="part.busy_ps", parts_us="parts_ps", calls_us="calls_ps")
    assert facts == {"busy_us": 2.5, "parts_us": {"copy": 1.0}, "calls_us": [3.0, 1.5]}
    assert attributes(RUN, "parts_ps") == {"parts_ps": {"copy": 1_000_000}}


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError):
        attributes(RUN, "ratios")


def test_numbers_that_are_not_finite_are_none() -> None:
    assert plain([float("inf"), float("nan"), {"a": -float("inf")}]) == [None, None, {"a": None}]


def test_a_document_names_the_version_first() -> None:
    text = json_document({"run": RUN.part, "sqnr_db": float("inf")})
    assert text.endswith("}\n")
    assert list(json.loads(text)) == ["hexsim_version", "run", "sqnr_db"]
    assert json.loads(text)["hexsim_version"] == __version__
    assert json.loads(text)["sqnr_db"] is None
