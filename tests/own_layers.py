"""The layers of examples/own_layers.py, and a model that has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FILE = Path(__file__).parents[1] / "examples" / "own_layers.py"
DOMAIN = "com.example"
X = (1, 3, 16, 16)


def model(*, energy: bool = False) -> onnx.ModelProto:
    """Conv, Squareplus, Conv, whose result is `y`; with `energy` Energy behind it."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.normal(0, 0.3, shape).astype(np.float32), name)
        for name, shape in (("w1", (8, 3, 3, 3)), ("w2", (8, 8, 3, 3)))
    ]
    last = "c2" if energy else "y"
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["c1"], name="conv1", pads=[1] * 4),
        helper.make_node("Squareplus", ["c1"], ["s"], name="plus", domain=DOMAIN, b=4.0),
        helper.make_node("Conv", ["s", "w2"], [last], name="conv2", pads=[1] * 4),
    ]
    shape: list[int] = [1, 8, 16, 16]
    if energy:
        nodes.append(helper.make_node("Energy", [last], ["y"], name="energy", domain=DOMAIN))
        shape = [1, 8]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
        for name, sizes in (("x", X), ("y", shape))
    )
    graph = helper.make_graph(nodes, "own", [x], [y], weights)
    imports = [helper.make_opsetid("", 13), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=imports)


def feed() -> np.ndarray:
    """One input, in ONNX axis order."""
    return np.random.default_rng(1).normal(size=X).astype(np.float32)
