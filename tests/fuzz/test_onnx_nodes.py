"""Nodes that contradict themselves are read or refused on purpose, whatever the operator.

The long mode judges as many cases as HEXSIM_FUZZ_CASES says, by default 50 000:

    HEXSIM_FUZZ_CASES=200000 python -m pytest -m slow tests/fuzz/test_onnx_nodes.py
"""

from __future__ import annotations

import os

import pytest

from tests.fuzz.onnx_nodes import OPERATORS, judged, model

QUICK = 1500
LONG = int(os.environ.get("HEXSIM_FUZZ_CASES", "50000"))


def test_a_case_is_reported_by_its_number() -> None:
    assert model(7) == model(7)
    drawn = {model(number).graph.node[0].op_type for number in range(QUICK)}
    assert len(drawn) > len(OPERATORS) / 2


def test_nodes_are_read_or_refused() -> None:
    said = [judged(number) for number in range(QUICK)]
    assert not [sentence for sentence in said if "\n" in sentence]
    assert QUICK / 3 < len([sentence for sentence in said if sentence]) < QUICK


@pytest.mark.slow
def test_many_nodes_are() -> None:
    for number in range(10_000, 10_000 + LONG):
        assert "\n" not in judged(number), number
