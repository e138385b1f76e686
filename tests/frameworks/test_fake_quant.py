"""FakeQuant nodes over the weights of a TensorFlow graph: their ranges reach the ONNX model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from hexsim.frameworks.fake_quant import WeightRanges, _classes
from hexsim.onnx_io.read.reader import read_with_codes


def with_weight_ranges(model: onnx.ModelProto, kind: str, data: bytes) -> onnx.ModelProto:
    ranges, _ = WeightRanges.taken_from(kind, data)
    return ranges.put_into(model)


RNG = np.random.default_rng(3)


def graph_def(
    *nodes: tuple[str, str, list[str], Mapping[str, object]],
) -> bytes:
    """A frozen graph; arrays in the attributes are tensors."""
    graph = _classes()["Graph"]()
    for name, op, inputs, attributes in nodes:
        node = graph.node.add(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            entry = node.attr.add(key=key)
            if isinstance(value, np.ndarray):
                entry.value.tensor.dtype = 1
                entry.value.tensor.content = value.astype("<f4").tobytes()
                for size in value.shape:
                    entry.value.tensor.shape.dim.add(size=size)
            elif isinstance(value, bool):
                entry.value.b = value
            else:
                entry.value.i = value
    return graph.SerializeToString()


def frozen(
    low: npt.ArrayLike, high: npt.ArrayLike, bits: int = 8, narrow: bool = False, fake: str = ""
) -> bytes:
    return graph_def(
        ("x", "Placeholder", [], {}),
        ("w", "Const", [], {"value": np.zeros((3, 3, 2, 4))}),
        ("low", "Const", [], {"value": np.asarray(low)}),
        ("high", "Const", [], {"value": np.asarray(high)}),
        ("low/read", "Identity", ["low"], {}),
        (
            "fq",
            fake or "FakeQuantWithMinMaxVars",
            ["w", "low/read", "high"],
            {"num_bits": bits, "narrow_range": narrow},
        ),
        ("conv", "Conv2D", ["x", "fq"], {}),
        ("add", "BiasAdd", ["conv", "b"], {}),
        ("act", "FakeQuantWithMinMaxVars", ["add", "low", "high"], {}),
    )


def rounded(
    low: npt.ArrayLike, high: npt.ArrayLike, bits: int, narrow: bool
) -> npt.NDArray[np.float32]:
    """Weights as ONNX has them (4, 2, 3, 3), rounded as TensorFlow documents its operator."""
    low, high = (np.float32(np.reshape(limit, (-1, 1, 1, 1))) for limit in (low, high))
    least, most = int(narrow), (1 << bits) - 1
    scale = (high - low) / (most - least)
    zero = np.clip(np.round(least - low / scale), least, most)
    codes = RNG.integers(least, most + 1, (4, 2, 3, 3))
    return np.float32((codes - zero) * scale)


def exported(weight: npt.NDArray[np.float32]) -> onnx.ModelProto:
    """What tf2onnx makes of it: the node's name is lost, the output is called like BiasAdd's."""
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "const_fold_opt__7"], ["add:0"], "add", pads=[1] * 4)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2, 6, 6))],
        [helper.make_tensor_value_info("add:0", TensorProto.FLOAT, (1, 4, 6, 6))],
        [numpy_helper.from_array(weight, "const_fold_opt__7")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


WIDTHS = [8, 16] if onnx.__version__.startswith(("1.17.", "1.18.")) else [4, 8, 16]
"""Older versions of onnx have no arrays of 4 bits, and give these codes 8."""


@given(st.floats(-4, -0.01), st.floats(0.01, 4), st.sampled_from(WIDTHS), st.booleans())
def test_a_range_is_that_of_the_node(low: float, high: float, bits: int, narrow: bool) -> None:
    weight = rounded(low, high, bits, narrow)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = with_weight_ranges(exported(weight), "Graph", frozen(low, high, bits, narrow))
    (codes,) = read_with_codes(model).codes.values()
    assert codes.bits == bits
    step = (high - low) / ((1 << bits) - 1 - narrow)
    np.testing.assert_allclose(codes.scales, step, rtol=1e-5)
    grid = weight / np.float64(codes.scales[0])
    assert np.abs(grid - np.rint(grid)).max() < 0.01
    assert grid.min() > codes.offsets[0] - 0.5
    assert grid.max() < codes.offsets[0] + (1 << bits) - 0.5


def test_each_channel_has_a_range_of_its_own() -> None:
    high = np.float32([0.5, 1, 2, 8])
    weight = rounded(-high, high, 8, True)
    data = frozen(-high, high, 8, True, "FakeQuantWithMinMaxVarsPerChannel")
    (codes,) = read_with_codes(with_weight_ranges(exported(weight), "Graph", data)).codes.values()
    assert codes.symmetric
    np.testing.assert_allclose(codes.scales, high / 127, rtol=1e-6)


def test_a_weight_that_was_multiplied_afterwards_is_named() -> None:
    model = exported(rounded(-1, 1, 8, False) * np.float32(0.7331))
    with pytest.warns(UserWarning, match="FakeQuant nodes over weights are not taken over: fq;"):
        done = with_weight_ranges(model, "Graph", frozen(-1, 1))
    assert done == model


def test_variables_are_named() -> None:
    meta = _classes()["MetaGraph"]()
    meta.graph_def.ParseFromString(
        graph_def(
            ("x", "Placeholder", [], {}),
            ("w", "VariableV2", [], {}),
            ("low", "VariableV2", [], {}),
            ("fq", "FakeQuantWithMinMaxVars", ["w", "low", "low"], {}),
            ("conv", "Conv2D", ["x", "fq"], {}),
        )
    )
    model = exported(rounded(-1, 1, 8, False))
    with pytest.warns(UserWarning, match="taken over: fq;"):
        assert with_weight_ranges(model, "MetaGraph", meta.SerializeToString()) == model


@pytest.mark.parametrize("data", [b"", b"\x0a\xff\xff", bytes(range(256))])
@pytest.mark.parametrize("kind", ["Graph", "MetaGraph", "SavedModel"])
def test_damaged_graphs_have_no_ranges(data: bytes, kind: str) -> None:
    model = exported(rounded(-1, 1, 8, False))
    assert with_weight_ranges(model, kind, data) == model


def test_weights_that_hold_a_norm_are_rounded_before_they_are_converted() -> None:
    """As TensorFlow's own rewriter leaves them: multiplied, then quantised."""
    weight, factor = RNG.standard_normal((3, 3, 2, 4)), np.float32([1, 2, 3, 4])
    data = graph_def(
        ("x", "Placeholder", [], {}),
        ("w", "Const", [], {"value": weight}),
        ("s", "Const", [], {"value": factor**-2}),
        ("r", "Rsqrt", ["s"], {}),
        ("fold", "Mul", ["w", "r"], {}),
        ("low", "Const", [], {"value": np.asarray(-4.0)}),
        ("high", "Const", [], {"value": np.asarray(4.0)}),
        ("fq", "FakeQuantWithMinMaxVars", ["fold", "low", "high"], {}),
        ("conv", "Conv2D", ["x", "fq"], {}),
    )
    ranges, converted = WeightRanges.taken_from("Graph", data)
    (grid,) = ranges.grids
    graph = _classes()["Graph"].FromString(converted)
    (node,) = (node for node in graph.node if node.name == "fq")
    got = np.frombuffer(node.attr[1].value.tensor.content, "<f4").reshape(weight.shape)
    assert node.op == "Const"
    wanted = np.clip(weight * factor, -grid.zeros * grid.scales, (255 - grid.zeros) * grid.scales)
    np.testing.assert_allclose(got, wanted, atol=grid.scales[0] * 0.51)
    assert len(np.unique(got)) <= 256


def saved_model() -> bytes:
    """A network in a function, as Keras saves it: weights are variables, the input an argument."""
    saved = _classes()["SavedModel"]()
    function = saved.meta_graphs.add().graph_def.library.function.add()
    function.signature.input.add(name="x", type=1)
    function.signature.input.add(name="variable", type=20)
    for name, op, inputs in (
        ("low", "Const", []),
        ("high", "Const", []),
        ("read", "ReadVariableOp", ["variable"]),
        (
            "over_weights",
            "FakeQuantWithMinMaxVars",
            ["read:value:0", "low:output:0", "high:output:0"],
        ),
        ("conv", "Conv2D", ["x", "over_weights:outputs:0"]),
        ("over_values", "FakeQuantWithMinMaxVars", ["conv:output:0", "low", "high"]),
    ):
        function.node.add(name=name, op=op, input=inputs)
    data: bytes = saved.SerializeToString()
    return data


def test_functions_of_a_saved_model_are_searched() -> None:
    model = exported(rounded(-1, 1, 8, False))
    with pytest.warns(UserWarning, match="FakeQuant nodes over weights .*: over_weights;"):
        assert with_weight_ranges(model, "SavedModel", saved_model()) == model
