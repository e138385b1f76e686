"""Assignments to slices: what is not written over comes from a tensor or from a constant."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper

from hexsim.layers import Concat, Opaque, StridedSlice


def test_a_canvas_that_is_known_is_cut_before_the_network_runs(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["u"]),
        helper.make_node("ScatterND", ["canvas", "i", "u"], ["y"], name="n"),
    ]
    places = np.moveaxis(np.indices((1, 3, 2)), 0, -1) + np.array([0, 0, 1])
    canvas = np.arange(60, dtype=np.float32).reshape(1, 3, 5, 4)
    weights = {"canvas": canvas, "i": places}
    network = agree(onnx_model(nodes, {"x": (1, 3, 2, 4)}, ["y"], weights, 13)).read  # type: ignore[attr-defined]
    (joined,) = (layer for layer in network.layers if layer.name == "n")
    assert isinstance(joined, Concat)
    before, behind = joined.inputs[0], joined.inputs[2]
    assert (network.shape(before), network.shape(behind)) == ((1, 1, 4, 3), (1, 2, 4, 3))
    assert not any(isinstance(layer, StridedSlice | Opaque) for layer in network.layers)
