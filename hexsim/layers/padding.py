"""What an opaque Pad node adds, whichever form its opset gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from hexsim.graph.ir import Network
from hexsim.layers.opaque import Opaque


@dataclass(frozen=True)
class Padding:
    """`pads` are the begins of all source axes, then the ends; `value` fills a constant one."""

    mode: str
    pads: tuple[int, ...]
    value: float


def read_padding(layer: Opaque, network: Network) -> Padding | None:
    """Return the padding of a Pad node of opset 7 or later, None if it is not constant."""
    node = onnx.NodeProto.FromString(layer.node)
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    mode = attributes.get("mode", b"constant").decode()
    if "pads" in attributes:
        return Padding(mode, tuple(attributes["pads"]), attributes.get("value", 0.0))
    operands = iter(layer.inputs)
    inputs = [next(operands) if name else "" for name in node.input]
    data, pads_name, value_name, axes_name, *_ = [*inputs, "", ""]
    if any(name and name not in network.constants for name in (pads_name, value_name, axes_name)):
        return None
    pads = [int(n) for n in _values(network, pads_name)]
    rank = len(network.shape(data))
    axes = [int(axis) % rank for axis in _values(network, axes_name)] if axes_name else range(rank)
    (value,) = _values(network, value_name) if value_name else (0.0,)
    full = [0] * (2 * rank)
    for axis, begin, end in zip(axes, pads, pads[len(axes) :], strict=False):
        full[axis], full[axis + rank] = begin, end
    return Padding(mode, tuple(full), value)


def _values(network: Network, name: str) -> Sequence[float]:
    return [item.item() for item in network.constants[name].value().reshape(-1)]
