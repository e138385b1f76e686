"""From the builder's nodes and initialisers to an ONNX model (opset 13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hexsim.records import dataclass

from ._built import LOCATION, BuiltModel
from ._weights import FloatArray

if TYPE_CHECKING:
    import onnx

INLINE_VALUES = 64
"""Initialisers of at most this many values are stored in the model at once."""

Attribute = int | float | Sequence[int]


@dataclass(frozen=True, slots=True)
class Node:
    """One ONNX node; its only output is named like itself."""

    op: str
    name: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class Initializer:
    """A constant to be: its shape and the function that makes it."""

    shape: tuple[int, ...]
    make: Callable[[], FloatArray]

    @property
    def is_inline(self) -> bool:
        """Whether the values are small enough to be stored in the model at once."""
        return math.prod(self.shape) <= INLINE_VALUES


def assemble(
    network: str,
    nodes: Sequence[Node],
    initializers: Mapping[str, Initializer],
    inputs: Mapping[str, tuple[int, ...]],
    outputs: Mapping[str, tuple[int, ...]],
) -> BuiltModel:
    """Return the model; `inputs` and `outputs` map tensor names to their shapes."""
    from onnx import TensorProto, helper

    def values(shapes: Mapping[str, tuple[int, ...]]) -> list[onnx.ValueInfoProto]:
        return [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in shapes.items()
        ]

    graph = helper.make_graph(
        [_node(node) for node in nodes],
        network,
        values(inputs),
        values(outputs),
        [_tensor(name, initializer) for name, initializer in initializers.items()],
    )
    proto = helper.make_model(
        graph,
        producer_name="hexsim.models",
        ir_version=7,
        opset_imports=[helper.make_opsetid("", 13)],
    )
    lazy = {name: i.make for name, i in initializers.items() if not i.is_inline}
    return BuiltModel(proto, lazy)


def _node(node: Node) -> onnx.NodeProto:
    from onnx import helper

    proto = helper.make_node(node.op, node.inputs, [node.name], name=node.name)
    proto.attribute.extend(helper.make_attribute(k, v) for k, v in node.attributes.items())
    return proto


def _tensor(name: str, initializer: Initializer) -> onnx.TensorProto:
    from onnx import TensorProto, numpy_helper

    if initializer.is_inline:
        return numpy_helper.from_array(initializer.make(), name)
    tensor = TensorProto(name=name, dims=initializer.shape, data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=LOCATION)
    return tensor
