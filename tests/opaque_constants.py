"""Small networks in which the CPU runs operators with constants of their own, among layers of ours.

Each begins with a convolution that every runtime takes, and most end with one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnx
from onnx import helper

from hexsim.graph.ir import Constant, FloatArray, Network, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import Elementwise, Opaque
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from tests.conftest import make_model

SIZE = 6
CHANNELS = 4
SHAPE = (1, CHANNELS, SIZE, SIZE)
"""Of the input, in ONNX axis order."""

Constants = dict[str, np.ndarray]


def feeds(network: Network, count: int = 3) -> list[dict[str, FloatArray]]:
    """Seeded inputs in stored order."""
    rng = np.random.default_rng(8)
    return [
        {n: rng.standard_normal(network.tensors[n].shape, np.float32) for n in network.inputs}
        for _ in range(count)
    ]


def lstm() -> Network:
    """Four steps through an LSTM that clips, which no layer of ours does."""
    hidden, width = 5, SIZE * SIZE
    given = {"hidden_size": hidden, "clip": 3.0}
    return _between(
        [
            helper.make_node("Reshape", ["a", "steps"], ["sequence"]),
            helper.make_node("LSTM", ["sequence", "W", "R", "B"], ["states"], **given),
            helper.make_node("Reshape", ["states", "image"], ["b"]),
        ],
        {
            "steps": np.array([CHANNELS, 1, width]),
            "W": _normal((1, 4 * hidden, width), 0.3),
            "R": _normal((1, 4 * hidden, hidden), 0.3),
            "B": _normal((1, 8 * hidden), 0.3),
            "image": np.array([1, CHANNELS, 1, hidden]),
        },
    )


def conv_integer() -> Network:
    """A convolution quantised dynamically: codes, zero points and a scale that is a scalar."""
    rng = np.random.default_rng(4)
    return _between(
        [
            helper.make_node("DynamicQuantizeLinear", ["a"], ["q", "scale", "zero"]),
            helper.make_node("ConvInteger", ["q", "wq", "zero", "wz"], ["sums"], pads=[1] * 4),
            helper.make_node("Cast", ["sums"], ["reals"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", ["scale", "ws"], ["both"]),
            helper.make_node("Mul", ["reals", "both"], ["products"]),
            helper.make_node("Cast", ["q"], ["codes"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Add", ["products", "codes"], ["b"]),  # so the codes stay codes
        ],
        {
            "wq": rng.integers(0, 256, (CHANNELS, CHANNELS, 3, 3), np.uint8),
            "wz": np.array(121, np.uint8),
            "ws": np.array(0.0173, np.float32),
        },
    )


def gather() -> Network:
    """A triangle that an integer places, and a table of floats that integers look up."""
    return _between(
        [
            helper.make_node("Gather", ["a", "rows"], ["picked"], axis=2),
            helper.make_node("Trilu", ["picked", "diagonal"], ["triangle"]),
            helper.make_node("ArgMax", ["triangle"], ["index"], axis=1, keepdims=1),
            helper.make_node("Gather", ["table", "index"], ["found"]),
            helper.make_node("Concat", ["picked", "found"], ["joined"], axis=1),
            helper.make_node("Slice", ["joined", "from", "to", "axes"], ["b"]),
        ],
        {
            "rows": np.array([5, 0, 3, 3]),
            "diagonal": np.array(-1),
            "table": _normal((CHANNELS,), 3.0),
            "from": np.array([1]),
            "to": np.array([1 + CHANNELS]),
            "axes": np.array([1]),
        },
    )


def max_pool() -> Network:
    """Maxima with their places, counted column by column, which are scaled to be read."""
    return _between(
        [
            helper.make_node(
                "MaxPool", ["a"], ["most", "place"], kernel_shape=[2, 2], storage_order=1
            ),
            helper.make_node("Cast", ["place"], ["real"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mod", ["real", "seven"], ["rest"], fmod=1),
            helper.make_node("Max", ["most", "rest"], ["b"]),
        ],
        {"seven": np.array(7.3, np.float32)},
    )


def masked() -> Network:
    """A mask of bools, a scalar where it is false, and a power that is no number of ours."""
    mask = np.arange(np.prod(SHAPE)).reshape(SHAPE) % 3 > 0
    return _between(
        [
            helper.make_node("Where", ["mask", "a", "else"], ["kept"]),
            helper.make_node("Pow", ["kept", "power"], ["b"]),
        ],
        {"mask": mask, "else": np.array(-0.37, np.float32), "power": np.array(3.0, np.float32)},
    )


def cubic() -> Network:
    """A Resize whose region of interest is an empty array."""
    return _between(
        [helper.make_node("Resize", ["a", "roi", "scales"], ["b"], mode="cubic")],
        {"roi": np.zeros(0, np.float32), "scales": np.array([1, 1, 1.5, 1.5], np.float32)},
    )


def infinite() -> Network:
    """A limit that no code could be: an operator of the CPU compares with infinity."""
    return _between(
        [
            helper.make_node("Less", ["a", "limit"], ["below"]),
            helper.make_node("Where", ["below", "a", "zero"], ["b"]),
        ],
        {
            "limit": np.array([np.inf, 0.5, -np.inf, 0.1, 0.2, 0.3], np.float32),
            "zero": _normal((), 0),
        },
    )


def opaque_input() -> Network:
    """Nothing opaque but the input, so that the first convolution of ours runs on the CPU."""
    network = _between([helper.make_node("Relu", ["a"], ["b"])], {})
    return replace(network, input_formats={"x": InputFormat("opaque")})


def shared() -> Network:
    """One constant that a layer of ours adds, and that an operator of the CPU takes as a power."""
    node = helper.make_node("Pow", ["base", "k"], ["y"])
    layers = (
        Elementwise(name="add", inputs=("x", "k"), outputs=("a",), kind="sum"),
        Elementwise(name="square", inputs=("a", "a"), outputs=("s",), kind="product"),
        Opaque(
            name="pow",
            inputs=("s", "k"),
            outputs=("y",),
            op_type="Pow",
            node=node.SerializeToString(),
            shapes=((1, 8),),
        ),
    )
    power = np.linspace(0.31, 1.7, 8, dtype=np.float32)
    network = Network(
        "shared",
        layers,
        {name: Tensor(name, (1, 8)) for name in "xasy"},
        {"k": Constant("k", power.shape, power)},
        ("x",),
        ("y",),
    )
    network.check()
    return network


NETWORKS: tuple[Callable[[], Network], ...] = (
    *(lstm, conv_integer, gather, max_pool, masked, cubic, infinite, opaque_input, shared),
)


def _between(nodes: list[onnx.NodeProto], constants: Constants) -> Network:
    """`nodes`, which read `a` and write `b`, between a convolution and another."""
    pads = [1] * 4
    model = make_model(
        [
            helper.make_node("Conv", ["x", "w1", "b1"], ["a"], pads=pads),
            *nodes,
            helper.make_node("Conv", ["b", "w2", "b2"], ["y"], pads=pads),
        ],
        {"x": SHAPE},
        ["y"],
        {
            "w1": _normal((CHANNELS, CHANNELS, 3, 3), 0.4),
            "b1": _normal((CHANNELS,), 0.4),
            "w2": _normal((CHANNELS, CHANNELS, 3, 3), 0.4),
            "b2": _normal((CHANNELS,), 0.4),
            **constants,
        },
    )
    network = optimize(read(model))
    network.check()
    return network


def _normal(shape: tuple[int, ...], deviation: float) -> np.ndarray:
    rng = np.random.default_rng(int(np.prod(shape)))
    return (deviation * rng.standard_normal(shape)).astype(np.float32)
