"""What the page on layers of one's own shows is the example, and its tables are of the code."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from benchmarks.pages import CONCEPTS
from hexsim.errors import HexsimError
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.udl import UserLayer, known, use_layers
from tests.own_layers import FILE, feed, model

PAGE = (CONCEPTS / "user-defined-layers.md").read_text(encoding="utf-8")


def test_the_code_is_that_of_the_example() -> None:
    example = FILE.read_text(encoding="utf-8")
    (shown,) = (
        block for block in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "def " in block
    )
    assert shown in example


def test_the_table_has_every_field() -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    assert {field.name for field in fields(UserLayer)} - {"source"} <= documented


def test_the_error_is_that_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_GIVEN", {})
    use_layers(FILE)
    proto = model()
    del proto.graph.node[1].attribute[:]
    network = read(proto)
    with pytest.raises(HexsimError) as error:
        FloatEngine(network).run({"x": network.tensors["x"].from_source(feed())})
    assert f"hexsim: {error.value}" in PAGE.replace("\n", " ")
