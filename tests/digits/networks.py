"""The stored networks as ONNX models with their batch norms, and with one channel spoilt."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from hexsim.graph.ir import Network
from hexsim.layers import Convolution
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from tests.digits.architecture import CLASSES, Kind, Step, steps
from tests.digits.data import path

EXPANSION, DEPTHWISE = "pw1", "dw2"
"""The convolution of which a channel is spoilt, and the depthwise one that makes up for it."""


def load(kind: Kind, seed: int) -> Network:
    """The network of `kind` trained from `seed`, converted."""
    return optimize(read(model(kind, seed)))


def model(kind: Kind, seed: int) -> onnx.ModelProto:
    """The same as an ONNX model, from image `x` (1, 1, 8, 8) to class scores `y` (1, 10)."""
    with np.load(path(kind, seed)) as archive:
        arrays = {name: archive[name].astype(np.float32) for name in archive.files}
    arrays["six"], arrays["zero"] = np.float32(6), np.float32(0)
    nodes: list[onnx.NodeProto] = []
    last = "x"
    for step in steps(kind):
        last = _nodes(step, last, nodes)
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["mean"], name="mean"))
    nodes.append(helper.make_node("Flatten", ["mean"], ["features"], name="flatten"))
    matrix = ["features", "classify.weight", "classify.bias"]
    nodes.append(helper.make_node("Gemm", matrix, ["y"], name="classify", transB=1))
    used = {name for node in nodes for name in node.input}
    real = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        f"digits_{kind}_{seed}",
        [helper.make_tensor_value_info("x", real, (1, 1, 8, 8))],
        [helper.make_tensor_value_info("y", real, (1, CLASSES))],
        [numpy_helper.from_array(a, name) for name, a in arrays.items() if name in used],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _nodes(step: Step, last: str, nodes: list[onnx.NodeProto]) -> str:
    """Add the nodes of a step that reads `last`; return what they write."""
    parameters = [f"{step.name}.weight"] + ([] if step.norm else [f"{step.name}.bias"])
    attributes = {
        "group": step.inputs if step.depthwise else 1,
        "strides": [step.stride] * 2,
        "pads": [step.kernel // 2] * 4,
    }
    nodes.append(
        helper.make_node("Conv", [last, *parameters], [step.name], name=step.name, **attributes)
    )
    last = step.name
    if step.norm:
        norm = f"{step.name}_norm"
        inputs = [f"{norm}.{key}" for key in ("weight", "bias", "running_mean", "running_var")]
        nodes.append(helper.make_node("BatchNormalization", [last, *inputs], [norm], name=norm))
        last = norm
    if step.activation is not None:
        name = f"{step.name}_act"
        op, bounds = ("Clip", ["zero", "six"]) if step.activation == "Relu6" else ("Relu", [])
        nodes.append(helper.make_node(op, [last, *bounds], [name], name=name))
        last = name
    return last


def widest(network: Network) -> int:
    """The channel whose depthwise filter reaches furthest: scaled up, it leaves least to others."""
    filters = network.constants[_convolution(network, DEPTHWISE).weight].value()
    return int(np.abs(filters).max(axis=(0, 1, 2)).argmax())


def spoilt(network: Network, channel: int, factor: float = 100.0) -> Network:
    """Divide one expansion channel by `factor` and multiply its depthwise filter by it.

    The function of a network with ReLU stays what it was.
    """
    expansion, depthwise = (_convolution(network, name) for name in (EXPANSION, DEPTHWISE))
    scale = np.ones(expansion.output_channels)
    scale[channel] = factor
    constants = network.constants
    written = [constants[name] for name in (*expansion.parameters, *expansion.statistics)]
    changed = [tensor.derive(tensor.shape, lambda array: array / scale) for tensor in written]
    filters = constants[depthwise.weight]
    changed.append(filters.derive(filters.shape, lambda array: array * scale))
    return network.with_layers(network.layers, constants=changed)


def _convolution(network: Network, name: str) -> Convolution:
    (layer,) = (layer for layer in network.layers if layer.name == name)
    assert isinstance(layer, Convolution)
    return layer
