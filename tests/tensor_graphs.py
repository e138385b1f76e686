"""Small graphs of kernel calls for the tests of the tensor processor."""

from __future__ import annotations

from dataclasses import replace

import onnx
from onnx import TensorProto, helper

from hexsim.api.model import load
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.planning.plan import KernelCall

Calls = tuple[Network, tuple[KernelCall, ...]]


def calls_of(path: str) -> Calls:
    """The calls of a file, or of a built-in network, in 8 bits."""
    plan = Deployment(load(path), Platform.load("sd865"), "fxp_cpu").plan
    return plan.network, tuple(plan.calls())


def in_16_bits(calls: tuple[KernelCall, ...]) -> tuple[KernelCall, ...]:
    """The same with 16-bit activations."""
    return tuple(replace(call, activation_bits=16) for call in calls)


def in_floats(calls: tuple[KernelCall, ...]) -> tuple[KernelCall, ...]:
    """The same in half floats."""
    floats = {"activation_bits": 16, "weight_bits": 16, "computes_float": True}
    return tuple(replace(call, **floats) for call in calls)


def convolution(path: str, channels: int, size: int, outputs: int, groups: int = 1) -> Calls:
    """One 3 x 3 convolution of a square image."""
    weight = [outputs, channels // groups, 3, 3]
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4, group=groups)
    return _written(path, [node], {"w": weight}, [1, channels, size, size])


def normalised(path: str, first: str, second: str) -> Calls:
    """Two operations with constants on an image of three channels, then a convolution."""
    nodes = [
        helper.make_node(first, ["x", "a"], ["xa"], "first"),
        helper.make_node(second, ["xa", "b"], ["xb"], "second"),
        helper.make_node("Conv", ["xb", "w"], ["y"], "conv", pads=[1] * 4),
    ]
    constants = {"a": [1, 3, 1, 1], "b": [1, 3, 1, 1], "w": [32, 3, 3, 3]}
    return _written(path, nodes, constants, [1, 3, 64, 64])


def _written(
    path: str, nodes: list[onnx.NodeProto], constants: dict[str, list[int]], image: list[int]
) -> Calls:
    initializers = []
    for name, shape in constants.items():
        count = 1
        for size in shape:
            count *= size
        values = [0.5 + 0.125 * (at % 3) for at in range(count)]
        initializers.append(helper.make_tensor(name, TensorProto.FLOAT, shape, values))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, image)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return calls_of(path)
