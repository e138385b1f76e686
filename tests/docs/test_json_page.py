"""The page of JSON keys is that of its program, and documents hold the keys that it lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.json_page import DOCUMENTS, PAGE, Written, objects, page, unit
from hexsim.reports.validation.data import validation_facts
from tests.reports.studies import study

WRITTEN = [document for document in DOCUMENTS if isinstance(document, Written)]


def test_the_page_is_that_of_the_program() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.json_page --write"


def test_every_class_of_the_page_is_below_a_key() -> None:
    for document in WRITTEN:
        assert document.classes.keys() <= {described.path for described in objects(document)}


def test_a_document_holds_the_keys_of_its_table() -> None:
    (document,) = (entry for entry in WRITTEN if entry.record is validation_facts)
    listed = {described.path: set(described.keys) for described in objects(document)}
    seen = dict(_objects(json.loads(document.record.json(study())), ""))
    assert seen.pop("") == {"hexsim_version"} | {key.removesuffix("[]") for key in listed[""]}
    assert {"layers[]", "sensitivity.layers[]", "diagnoses[].findings[]"} <= seen.keys()
    for path in seen.keys() & listed.keys():
        assert seen[path] == {key.removesuffix("[]") for key in listed[path]}


def _objects(value: Any, path: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the path and the keys of each object."""
    if isinstance(value, dict):
        yield path, set(value)
        for key, item in value.items():
            yield from _objects(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, f"{path}[]")


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("total_inference_us", "us"),
        ("latencies_us[]", "us"),
        ("parts_mj.{part}", "mJ"),
        ("macs_per_s", "MAC/s"),
        ("ddr_macs_per_byte", "MAC/byte"),
        ("bus", ""),
        ("interval", ""),
    ],
)
def test_a_unit_is_the_end_of_a_key(key: str, expected: str) -> None:
    assert unit(key) == expected
