"""NodeCodes: the encoding of a tensor as codes (quantised values), read from nodes of the file.

The nodes are QuantizeLinear and DequantizeLinear (of the standard domain and of com.microsoft), and
nodes that quantise and dequantise at once: FakeQuantize (levels and four limits) and
FakeQuantWithMinMaxVars or -Args, of any domain.

Not supported: scales per block, 8-bit floats, and activations with a scale per channel; these nodes
stay in the network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import OnnxNode, positive_axis
from hexsim.records import dataclass, replace

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
_DOMAINS = ("", "com.microsoft")
_INTEGERS = {
    f"{sign}int{bits}": (bits, sign == "") for bits in (4, 8, 16, 32) for sign in ("u", "")
}
"""Number of bits of an element type, and whether it is signed."""
_MOST_BITS = 16
"""Most bits of the codes of an activation."""


@dataclass(frozen=True)
class NodeCodes:
    """real = scale * (q + offset) with q from 0 to 2^bits - 1; one scale, or one per channel.

    `axis` is the source axis of the channels; `symmetric` means signed codes around zero.
    """

    bits: int
    scales: tuple[float, ...]
    offsets: tuple[int, ...]
    symmetric: bool
    axis: int | None = None

    def limits(self) -> tuple[float, float]:
        """Return the smallest and largest real value; there must be one scale."""
        (scale,), (offset,) = self.scales, self.offsets
        return scale * offset, scale * (offset + (1 << self.bits) - 1)

    def moved(self, changed: Array) -> NodeCodes | None:
        """Return the codes of an array that was changed; None if they are no longer valid.

        `changed` is what the change made of `marks`: the numbers must have been rearranged but not
        scaled, with the channels on one axis, the last of those that are possible.
        """
        if self.axis is None:
            return self if bool((changed == 1).all()) else None
        channels = len(self.scales)
        for axis in reversed(range(changed.ndim)):
            if changed.shape[axis] == channels:
                numbers = np.moveaxis(changed, axis, -1)
                if bool((numbers == np.arange(1, channels + 1)).all()):
                    return replace(self, axis=axis)
        return None

    def fits(self, shape: Shape) -> bool:
        """True if a layer may have such codes for a constant: its channels are on the last axis."""
        return self.axis in (None, len(shape) - 1)

    def marks(self, shape: Shape) -> Array:
        """Return an array of `shape` that numbers the channels from 1, or all ones without them."""
        if self.axis is None:
            return np.broadcast_to(np.float32(1), shape)
        numbers = np.arange(1, shape[self.axis] + 1, dtype=np.float32)
        line = [1] * len(shape)
        line[self.axis] = shape[self.axis]
        return np.broadcast_to(numbers.reshape(line), shape)


def is_linear(node: OnnxNode, op_type: str) -> bool:
    """True for a node of this operator in one of its domains."""
    return node.standard == op_type and node.domain in _DOMAINS


def linear_codes(
    node: OnnxNode, known: Mapping[str, Known], dtype: str, shape: Shape | None
) -> NodeCodes | None:
    """Return the codes of a QuantizeLinear or DequantizeLinear node with integers of type `dtype`.

    `shape` is that of the integers, None if it is not known yet. Returns None if the node is not
    supported, or its scale and zero point vary. InvalidDataError if its axis is not in `shape`, or
    its size is not the number of scales.
    """
    scale, zero = node.inputs[1], node.input(2)
    supported = dtype in _INTEGERS and not node.integer("block_size", 0)
    if not supported or scale not in known or (zero and zero not in known):
        return None
    scales = np.asarray(known[scale].read(), np.float64).reshape(-1)
    zeros = np.asarray(known[zero].read()).astype(np.int64).reshape(-1) if zero else 0 * scales
    if len(known[scale].shape) > 1 or not np.isfinite(scales).all():
        return None
    if not np.all(scales >= np.finfo(np.float32).tiny):  # a .dlc file stores no smaller step
        return None
    if not len(zeros) == len(scales) > 0:
        return None
    bits, signed = _INTEGERS[dtype]
    lowest = -(1 << (bits - 1)) if signed else 0
    axis = None
    if len(scales) > 1:
        axis = node.integer("axis", 1)
    if axis is not None and shape is not None:
        axis = positive_axis(axis, len(shape))
        if shape[axis] != len(scales):
            raise InvalidDataError(f"{len(scales)} scales for axis {axis} of {list(shape)}")
    return NodeCodes(
        bits,
        tuple(float(scale) for scale in scales),
        tuple(lowest - int(zero) for zero in zeros),
        signed and not zeros.any(),
        axis,
    )


def integer_type(node: OnnxNode, known: Mapping[str, Known]) -> str:
    """Return the type of the integers that a QuantizeLinear node writes."""
    zero = node.input(2)
    if zero:
        return known[zero].dtype if zero in known else ""
    by_number = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 21: "uint4", 22: "int4"}
    return by_number.get(node.integer("output_dtype", 2), "")


def fake_codes(node: OnnxNode, known: Mapping[str, Known]) -> NodeCodes | None:
    """Return the codes of a node that quantises and dequantises at once, None for other nodes."""
    limits = _fake_limits(node, known)
    if limits is None:
        return None
    low, high, levels = limits
    bits = int(levels).bit_length() - (0 if levels & (levels - 1) else 1)
    if not low <= 0 <= high or low == high or bits > _MOST_BITS or math.inf in (-low, high):
        return None
    scale = (high - low) / (levels - 1)
    symmetric = low < 0 and levels % 2 == 1
    offset = -(1 << (bits - 1)) if symmetric else -int(-low / scale + 0.5)
    return NodeCodes(bits, (scale,), (offset,), symmetric)


def _fake_limits(node: OnnxNode, known: Mapping[str, Known]) -> tuple[float, float, int] | None:
    """Return the lowest and highest real value, and the number of codes."""
    if node.standard == "FakeQuantize":
        limits = [_number(name, known) for name in node.inputs[1:5]]
        if len(limits) != 4 or None in limits or limits[:2] != limits[2:]:
            return None
        low, high, levels = limits[0], limits[1], node.integer("levels", 256)
    elif node.standard == "FakeQuantWithMinMaxVars":
        low, high = (_number(name, known) for name in (node.input(1), node.input(2)))
        levels = _tensorflow_levels(node)
    elif node.standard == "FakeQuantWithMinMaxArgs":
        low, high, levels = node.real("min", -6.0), node.real("max", 6.0), _tensorflow_levels(node)
    else:
        return None
    return None if low is None or high is None or levels < 2 else (low, high, levels)


def _tensorflow_levels(node: OnnxNode) -> int:
    bits = node.integer("num_bits", 8)
    return (1 << bits) - node.integer("narrow_range", 0) if 0 < bits <= _MOST_BITS else 0


def _number(name: str, known: Mapping[str, Known]) -> float | None:
    if name not in known or np.prod(known[name].shape) != 1:
        return None
    return float(known[name].read().reshape(-1)[0])
