"""Attention of com.microsoft in all its plain forms."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import MatMul, Opaque, Softmax
from hexsim.onnx_io.file.source import open_source
from hexsim.onnx_io.read.expansions import EXPANSIONS
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph, named
from hexsim.onnx_io.read.reader import read_with_codes
from tests.onnx_io.read.expansions.judged import assert_same, dynamic_codes, fused, model_of

RNG = np.random.default_rng(4)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X = {"x": normal(2, 5, 24)}
MASK = {"m": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)}
WEIGHTS = {"w": 0.3 * normal(24, 72), "b": normal(72)}
ADDED = {"a": normal(1, 4, 5, 5)}


@pytest.mark.parametrize(
    ("node", "weights", "masked"),
    [
        (fused("Attention", "x w b", num_heads=4), {}, False),
        (fused("Attention", "x w b", num_heads=4, scale=0.3), {}, False),
        (fused("Attention", "x w b", num_heads=4, unidirectional=1), {}, False),
        (fused("Attention", "x w b m", num_heads=4), {}, True),
        (fused("Attention", "x w b m", num_heads=4, mask_filter_value=-3.0), {}, True),
        (fused("Attention", "x w b - - a", num_heads=4), ADDED, False),
        (fused("Attention", "x w b", num_heads=4, qkv_hidden_sizes=[16, 16, 40]), {}, False),
    ],
    ids=["plain", "scale", "causal", "mask", "soft mask", "added", "sizes"],
)
@pytest.mark.parametrize("opset", [13, 18])
def test_attention(
    node: onnx.NodeProto, weights: dict[str, np.ndarray], masked: bool, opset: int
) -> None:
    feed = {**X, **MASK} if masked else X
    model = model_of([node], feed, {**WEIGHTS, **weights}, "y", opset)
    network = assert_same(model, feed, opaque=["Cast"] if masked else [])
    assert sum(isinstance(layer, MatMul) for layer in network.layers) == 2
    assert sum(isinstance(layer, Softmax) for layer in network.layers) == 1


@pytest.mark.parametrize(
    ("inputs", "weights", "masked"),
    [
        ("x k v b", {"b": WEIGHTS["b"]}, False),
        ("x k v - m", {}, True),
        ("x k v - - a", ADDED, False),
    ],
)
def test_multi_head_attention(inputs: str, weights: dict[str, np.ndarray], masked: bool) -> None:
    feed = {**X, "k": normal(2, 5, 24), "v": normal(2, 5, 24), **(MASK if masked else {})}
    for causal in (0, 1):
        node = fused("MultiHeadAttention", inputs, num_heads=4, unidirectional=causal)
        assert_same(model_of([node], feed, weights, "y"), feed, opaque=["Cast"] if masked else [])


@pytest.mark.parametrize("keys", [1, 3, 5, 9])
def test_a_causal_mask_hides_later_keys(keys: int) -> None:
    if keys not in (1, 5) and onnxruntime.__version__.startswith("1.20."):
        pytest.skip("the mask of onnxruntime 1.20 is another with more or fewer keys than queries")
    feed = {**X, "k": normal(2, keys, 24), "v": normal(2, keys, 24)}
    node = fused("MultiHeadAttention", "x k v", num_heads=4, unidirectional=1)
    assert_same(model_of([node], feed, {}, "y"), feed)


def test_sizes_of_two_projections_are_refused() -> None:
    node = fused("Attention", "x w b", num_heads=4, qkv_hidden_sizes=[16, 16])
    with pytest.raises(HexsimError, match=r"qkv_hidden_sizes is \[16, 16\], not three sizes"):
        read_with_codes(model_of([node], X, WEIGHTS, "y"))


def test_attention_with_a_past_is_left_to_the_cpu() -> None:
    past = {"past": normal(2, 2, 4, 3, 6)}
    node = fused("Attention", "x w b - past", "y present", num_heads=4, unidirectional=1)
    model = model_of([node], {**X, **past}, WEIGHTS, "y present")
    network = assert_same(model, {**X, **past}, opaque=["com.microsoft.Attention"])
    (layer,) = (layer for layer in network.layers if isinstance(layer, Opaque))
    assert layer.products == 2 * 5 * 24 * 72 + 2 * 2 * 5 * 24 * 8, "its input, and 8 keys"


def test_lengths_of_an_embedding_stand_for_its_mask() -> None:
    shapes = {"words": (30, 24), "places": (9, 24), "g": (24,), "s": (24,)}
    tables = {name: normal(*shape) for name, shape in shapes.items()}
    feed = {"ids": RNG.integers(0, 30, (2, 5)).astype(np.int32), **MASK}
    nodes = [
        fused("EmbedLayerNormalization", "ids - words places - g s m", "e lengths"),
        fused("Attention", "e w b lengths", num_heads=4),
    ]
    model = model_of(nodes, feed, {**tables, **WEIGHTS}, "y")
    assert_same(model, feed, opaque=["Cast", "Gather"])


@pytest.mark.parametrize("columns", [False, True], ids=["one scale", "a scale for each column"])
def test_codes(columns: bool) -> None:
    """Dynamic codes are floats here."""
    shape = (72,) if columns else ()
    weights = {
        "w": RNG.integers(-100, 100, (24, 72)).astype(np.int8),
        "b": WEIGHTS["b"],
        "ws": np.full(shape, 0.005, np.float32),
        "wz": np.zeros(shape, np.int8),
    }
    node = fused("QAttention", "xq w b xs ws - xz wz", num_heads=4)
    floats = {"w": weights["w"] * weights["ws"], "b": weights["b"]}
    judge = model_of([fused("Attention", "x w b", num_heads=4)], X, floats, "y")
    assert_same(model_of([dynamic_codes(), node], X, weights, "y"), X, judge=judge)


@pytest.mark.parametrize(
    "proto",
    [
        fused("Attention", "x w b - past", num_heads=4),
        fused("Attention", "x w b", "y present", num_heads=4),
        fused("Attention", "x w b", num_heads=4, do_rotary=1),
        fused("Attention", "x w b lengths", num_heads=4),
        fused("MultiHeadAttention", "x", num_heads=4),
    ],
)
def test_other_forms_stay_as_they_are(proto: onnx.NodeProto) -> None:
    feed = {**X, "past": normal(2, 2, 4, 3, 6), "lengths": np.array([5, 3], np.int32)}
    model = model_of([proto, helper.make_node("Relu", ["y"], ["z"])], feed, WEIGHTS, "z")
    source = open_source(model)
    graph = FileGraph(source.graph, named(source.graph.node, source, set()), source.opset)
    node = graph.nodes[0]
    assert EXPANSIONS[node.op_type](node, graph, ExpansionNodes(node, graph.opset)) is None
