"""Results become data: declared keys, units in the keys, nothing that JSON does not have."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from hexsim import __version__
from hexsim.reports.document import Record, plain


@dataclass(frozen=True)
class Part:
    name: str
    busy_ps: int


@dataclass(frozen=True)
class Run:
    part: Part | None
    parts_ps: dict[str, int]
    calls_ps: tuple[int, ...]
    ratio: float = 0.5


RUN = Run(Part("copy", 2_500_000), {"copy": 1_000_000}, (3_000_000, 1_500_000))


def test_keys_keep_their_order_and_their_names() -> None:
    facts = Record("", "ratio part first=part.name", {"double": lambda run: 2 * run.ratio})(RUN)
    assert list(facts) == ["ratio", "part", "first", "double"]
    part = {"name": "copy", "busy_ps": 2_500_000}
    assert facts == {"ratio": 0.5, "part": part, "first": "copy", "double": 1.0}


def test_picoseconds_become_microseconds_under_a_key_that_says_so() -> None:
    facts = Record("", "busy_us=part.busy_ps parts_us=parts_ps calls_us=calls_ps parts_ps")(RUN)
    assert facts["parts_ps"] == {"copy": 1_000_000}
    assert (facts["busy_us"], facts["parts_us"], facts["calls_us"]) == (2.5, {"copy": 1}, [3, 1.5])


def test_a_path_has_indices_and_lists_and_ends_at_none() -> None:
    facts = Record("", "first=calls_ps.0 both=part.name,ratio")(RUN)
    assert (facts["first"], facts["both"]) == (3_000_000, ["copy", 0.5])
    assert Record("", "value=part.name.real")(replace(RUN, part=None)) == {"value": None}


def test_objects_are_below_a_key_one_by_one_in_lists_or_by_name() -> None:
    name = Record("", "name")
    several = SimpleNamespace(one=RUN.part, none=None, many=(RUN.part,) * 2, by={"a": RUN.part})
    facts = Record(
        "",
        {"one": ("one", name), "none": ("none", name)},
        {"many": ("many", [name]), "by": ("by", {"letter": name})},
    )(several)
    copy = {"name": "copy"}
    assert facts == {"one": copy, "none": None, "many": [copy, copy], "by": {"a": copy}}


def test_keys_of_an_object_that_is_absent_are_left_out() -> None:
    record = Record("", "ratio", ("part", "name busy_us=busy_ps"), Record("", "calls_ps"))
    assert list(record(RUN)) == list(record.fields()) == ["ratio", "name", "busy_us", "calls_ps"]
    assert list(record(replace(RUN, part=None))) == ["ratio", "calls_ps"]


def test_several_results_have_names_and_the_last_may_be_absent() -> None:
    record = Record("", "name=part.name count", results="part count")
    assert record(RUN.part, 3) == {"name": "copy", "count": 3}
    assert record(RUN.part) == {"name": "copy", "count": None}


def test_csv_has_the_keys_as_columns_and_nothing_where_json_has_null() -> None:
    record = Record("", "ratio", ("part", Part), {"words": lambda run: ["a", "b"]})
    rows = [RUN, replace(RUN, ratio=math.inf, part=None)]
    assert record.csv(rows) == "ratio,name,busy_ps,words\n0.5,copy,2500000,a b\n,,,a b\n"


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError):
        Record("", "ratios")(RUN)


def test_numbers_that_are_not_finite_are_none() -> None:
    assert plain([float("inf"), float("nan"), {"a": -float("inf")}]) == [None, None, {"a": None}]


def test_a_document_names_the_version_first() -> None:
    text = Record("", "ratio part").json(replace(RUN, ratio=math.inf))
    assert text.endswith("}\n")
    document = json.loads(text)
    assert list(document) == ["hexsim_version", "ratio", "part"]
    assert (document["hexsim_version"], document["ratio"]) == (__version__, None)
