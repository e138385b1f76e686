"""Rotary positions, of ONNX and of com.microsoft."""

import numpy as np
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import Elementwise
from hexsim.onnx_io.read.reader import read, read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same, fused, model_of

RNG = np.random.default_rng(6)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def angles(*shape: int) -> dict[str, np.ndarray]:
    turns = RNG.uniform(-3, 3, shape).astype(np.float32)
    return {"c": np.cos(turns), "s": np.sin(turns)}


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("part", [0, 4])
@pytest.mark.parametrize("axes", [3, 4])
@pytest.mark.parametrize("positions", [False, True])
def test_of_onnx(axes: int, part: int, interleaved: int, positions: bool) -> None:
    feed = {"x": normal(2, 3, 5, 8) if axes == 4 else normal(2, 5, 24)}
    half = (part or 8) // 2
    weights = angles(9, half) if positions else angles(2, 5, half)
    if positions:
        weights["p"] = RNG.integers(0, 9, (2, 5))
    heads = {"num_heads": 3} if axes == 3 else {}
    node = helper.make_node(
        "RotaryEmbedding",
        ["x", "c", "s", *(["p"] if positions else [])],
        ["y"],
        interleaved=interleaved,
        rotary_embedding_dim=part,
        **heads,
    )
    network = assert_same(model_of([node], feed, weights, "y", 23), feed)
    assert sum(isinstance(layer, Elementwise) for layer in network.layers) == 3


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("axes", [3, 4])
@pytest.mark.parametrize("start", [False, True])
def test_of_com_microsoft(axes: int, start: bool, interleaved: int) -> None:
    feed = {"x": normal(2, 3, 5, 8) if axes == 4 else normal(2, 5, 24)}
    positions = np.array([3]) if start else RNG.integers(0, 9, (2, 5))
    node = fused("RotaryEmbedding", "x p c s", interleaved=interleaved)
    assert_same(model_of([node], feed, {"p": positions, **angles(9, 4)}, "y"), feed)


def test_part_of_each_head_of_com_microsoft() -> None:
    feed = {"x": normal(2, 5, 24)}
    weights = {"p": RNG.integers(0, 9, (2, 5)), **angles(9, 2)}
    node = fused("RotaryEmbedding", "x p c s", rotary_embedding_dim=4, num_heads=3)
    assert_same(model_of([node], feed, weights, "y"), feed)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_tables_that_vary(interleaved: int) -> None:
    feed = {"x": normal(2, 3, 5, 8), **angles(2, 5, 4)}
    node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], interleaved=interleaved)
    assert_same(model_of([node], feed, {}, "y", 23), feed)


def test_positions_that_vary_leave_the_look_up_alone_on_the_cpu() -> None:
    feed = {"x": normal(2, 3, 5, 8), "p": RNG.integers(0, 9, (2, 5))}
    node = fused("RotaryEmbedding", "x p c s")
    assert_same(model_of([node], feed, angles(9, 4), "y"), feed, opaque=["Gather"])


def test_a_scale_stays() -> None:
    node = fused("RotaryEmbedding", "x p c s", scale=2.0)
    feed = {"x": normal(1, 3, 5, 8)}
    model = model_of([node], feed, {"p": np.zeros((1, 5), np.int64), **angles(9, 4)}, "y")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, (1, 3, 5, 8)))
    (left,) = read_with_codes(model).report.opaque
    assert left.reason == "it has a scale other than one"


@pytest.mark.parametrize("columns", [3, 6])
def test_tables_that_do_not_fit_are_refused(columns: int) -> None:
    node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], name="turn")
    if columns == 3:
        node.attribute.append(helper.make_attribute("rotary_embedding_dim", 8))
    model = model_of([node], {"x": normal(1, 3, 5, 8)}, angles(1, 5, columns), "y", 23)
    with pytest.raises(HexsimError, match=r"node 'turn' .*do not fit heads of 8"):
        read(model)
