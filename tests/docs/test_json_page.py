"""The page of JSON keys is that of its program, and documents hold the keys that it lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.json_page import PAGE, page
from hexsim.results.validation import Validation
from hexsim.texts.fields import Part, part_of, stored
from tests.reports.studies import study


def test_the_page_is_that_of_the_program() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.json_page --write"


def test_a_document_holds_the_keys_that_its_table_lists() -> None:
    """Each table lists what `stored` yields, and so do the objects of the file."""
    text, listed = page(), dict(_objects(Validation, json.loads(study().to_json()), ""))
    assert {"", "layers[]", "sensitivity.layers[]", "diagnoses[].findings[]"} <= listed.keys()
    for path, (kind, keys) in listed.items():
        assert keys - {"hexsim_version"} == {field.key for field in stored(kind)}
        assert not path or f"`{path}`: " in text


def _objects(
    kind: type[Part], tree: dict[str, Any], path: str
) -> Iterator[tuple[str, tuple[type[Part], set[str]]]]:
    """Yield the path of each object with its class and its keys."""
    yield path, (kind, set(tree))
    for field in stored(kind):
        below, inner = tree[field.key], part_of(field.type)
        for value in below if isinstance(below, list) else [below]:
            if inner and value is not None:
                yield from _objects(inner[0], value, f"{path}.{field.key}{inner[1]}".lstrip("."))
