"""The most that operators return, worked by hand."""

import numpy as np
import pytest
from onnx import helper

from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.most_elements import most_elements
from hexsim.onnx_io.read.node_results import NodeInput

BOXES = {"b": NodeInput((2, 30, 4), "float32"), "s": NodeInput((2, 5, 30), "float32")}


@pytest.mark.parametrize(
    ("most", "rows"),
    [(7, 2 * 5 * 7), (100, 2 * 5 * 30), (0, 0), (None, 2 * 5 * 30)],
)
def test_boxes_of_all_classes(most: int | None, rows: int) -> None:
    """Seven of each class, no more than there are; a computed number bounds nothing."""
    value = None if most is None else np.array([most])
    node = OnnxNode(helper.make_node("NonMaxSuppression", ["b", "s", "m"], ["y"]), "n", 13)
    operands = {**BOXES, "m": NodeInput((1,), "int64", value)}
    assert most_elements(node, operands) == {"y": (rows, 3)}


def test_no_box_is_what_the_standard_says_of_no_number() -> None:
    node = OnnxNode(helper.make_node("NonMaxSuppression", ["b", "s"], ["y"]), "n", 13)
    assert most_elements(node, BOXES) == {"y": (0, 3)}


def test_unnamed_outputs_have_none() -> None:
    node = OnnxNode(helper.make_node("Unique", ["s"], ["y", "", "z"], axis=2), "n", 13)
    assert most_elements(node, BOXES) == {"y": (2, 5, 30), "z": (30,)}


def test_other_operators_have_no_bound() -> None:
    node = OnnxNode(helper.make_node("Range", ["a", "s", "b"], ["y"]), "n", 13)
    assert most_elements(node, BOXES) == {}
