"""Nodes that contradict themselves are read or refused on purpose, whatever the operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.onnx_nodes import OPERATORS, judged, model
from tests.thorough import cases

QUICK = 1500


def test_a_case_is_reported_by_its_number() -> None:
    assert model(7) == model(7)
    drawn = {model(number).graph.node[0].op_type for number in range(QUICK)}
    assert len(drawn) > len(OPERATORS) / 2


def test_nodes_are_read_or_refused(tmp_path: Path) -> None:
    said = [judged(number, tmp_path) for number in range(QUICK)]
    assert not [sentence for sentence in said if "\n" in sentence]
    assert QUICK / 3 < len([sentence for sentence in said if sentence]) < QUICK


@pytest.mark.slow
def test_many_nodes_are(tmp_path: Path) -> None:
    for number in cases(12_000):
        assert "\n" not in judged(number, tmp_path), number
