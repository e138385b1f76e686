"""Codes (quantised values) that nodes only move between a QuantizeLinear and a DequantizeLinear.

A Reshape of codes equals a Reshape of floats, and so does an operator that selects the largest or
smallest, since a larger code is a larger number. So integer tensors that such nodes link become
floats, if all nodes that write or read them use the same encoding. Inputs and outputs of the
network may be among them; constants among them, such as the limits of a Clip, are dequantised.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.node_codes import (
    DEQUANTIZE,
    QUANTIZE,
    NodeCodes,
    integer_type,
    is_linear,
    linear_codes,
)

END_TYPES = ("uint8", "int8", "uint16", "int16")
"""Types of codes that an application can pass and receive."""

_Places = Callable[[int], tuple[int, ...]]

_MOVERS: Mapping[str, _Places] = {
    **dict.fromkeys(
        (
            *("DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements", "GatherND"),
            *("GlobalMaxPool", "Identity", "MaxPool", "ReduceMax", "ReduceMin", "Reshape"),
            *("Resize", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose"),
            *("Unsqueeze", "Upsample"),
        ),
        lambda count: (0,),
    ),
    **dict.fromkeys(("Concat", "Max", "Min"), lambda count: tuple(range(count))),
    "Clip": lambda count: (0, 1, 2)[:count],
    "Pad": lambda count: (0, 2) if count > 2 else (0,),
}
"""Operators whose output has elements of some inputs; the positions of these by input count."""


class Region:
    """All integer tensors that nodes of `_MOVERS` link with `start`, whose type is `dtype`.

    `names` is empty if a node does more than move them. Unless `codes` are given, they come from
    the first node that quantises or dequantises.
    """

    def __init__(self, start: str, codes: NodeCodes | None, dtype: str, net: Importer) -> None:
        self.codes = codes
        self.names: set[str] = {start}
        self._dtype, self._net = dtype, net
        waiting = [start]
        while waiting:
            linked = self._around(waiting.pop())
            if linked is None:
                self.names = set()
                return
            waiting += linked - self.names
            self.names |= linked
        if self.codes is None:
            self.names = set()

    def _around(self, name: str) -> set[str] | None:
        """Return the names that nodes link with `name`; None if one does more than move it."""
        net = self._net
        readers = net.facts.readers.get(name, [])
        is_end = name in net.facts.outputs
        if len(readers) + is_end != net.facts.uses[name] or net.facts.uses[name] == 0:
            return None
        if is_end and self._dtype not in END_TYPES:
            return None
        writer = net.facts.writers.get(name)
        if writer is None and not is_coded_input(name, net):
            return None
        linked = set[str]()
        for node in readers if writer is None else (writer, *readers):
            names_linked = self._linked(node, name)
            if names_linked is None:
                return None
            linked |= names_linked
        return linked

    def _linked(self, node: OnnxNode, name: str) -> set[str] | None:
        writes_it = is_linear(node, QUANTIZE) and node.output == name
        if writes_it or (is_linear(node, DEQUANTIZE) and node.inputs[0] == name):
            dtype = integer_type(node, self._net.known) if writes_it else self._dtype
            node_codes = linear_codes(node, self._net.known, dtype, None)
            self.codes = self.codes or node_codes
            fits = node_codes is not None and node_codes.axis is None and node_codes == self.codes
            return set() if fits and dtype == self._dtype else None
        places = code_places(node)
        unmoved = [operand for place, operand in enumerate(node.inputs) if place not in places]
        if not places or name in unmoved:
            return None
        data = {node.input(place) for place in places} - {""}
        return (data - self._net.known.keys()) | set(filter(None, node.outputs))


def code_places(node: OnnxNode) -> tuple[int, ...]:
    """Return the positions of inputs that `node` moves to its outputs; none if it computes."""
    places = _MOVERS.get(node.op_type)
    if places is None or (node.op_type != "Split" and any(node.outputs[1:])):
        return ()
    if node.op_type in ("Resize", "Upsample"):
        cuts = node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
        if node.text("mode", "nearest") != "nearest" or cuts:
            return ()
    return places(len(node.inputs))


def is_coded_input(name: str, net: Importer) -> bool:
    """True for an input of the network that may hold codes."""
    tensor = net.tensors.get(name)
    return tensor is not None and net.producer(name) is None and tensor.dtype in END_TYPES


def with_real_constants(node: OnnxNode, net: Importer) -> OnnxNode:
    """Return `node` with dequantised constants if it moves codes."""
    codes = next((net.moved[name] for name in node.outputs if name in net.moved), None)
    places = code_places(node)
    if codes is None or not places:
        return node
    inputs = list(node.inputs)
    for place in places:
        if place < len(inputs) and inputs[place] in net.known:
            inputs[place] = _real_constant(inputs[place], codes, net)
    if node.op_type == "Pad" and node.text("mode", "constant") == "constant" and not node.input(2):
        inputs += [""] * (3 - len(inputs))
        inputs[2] = _code_zero(node, codes, net)
    if inputs == list(node.inputs):
        return node
    proto = type(node.proto)()
    proto.CopyFrom(node.proto)
    del proto.input[:]
    proto.input.extend(inputs)
    return replace(node, proto=proto)


def real_values(integers: Array, codes: NodeCodes, *, signed: bool) -> Array:
    """Return the real values of stored integers."""
    shape = [1] * integers.ndim
    if codes.axis is not None:
        shape[codes.axis] = len(codes.scales)
    lowest = -(1 << (codes.bits - 1)) if signed else 0
    offsets = np.array([offset - lowest for offset in codes.offsets]).reshape(shape)
    scales = np.array(codes.scales).reshape(shape)
    return np.asarray((integers.astype(np.int64) + offsets) * scales).reshape(integers.shape)


def _real_constant(name: str, codes: NodeCodes, net: Importer) -> str:
    integers = net.known[name]
    signed = integers.dtype.startswith("int")

    def read_real() -> Array:
        return real_values(integers.read(), codes, signed=signed).astype(np.float32)

    label = net.unique(f"{name}.real")
    net.known[label] = Known(label, integers.shape, "float32", read_real)
    net.codes.setdefault(name, codes)
    net.follow(name, label, lambda array: array)
    return label


def _code_zero(node: OnnxNode, codes: NodeCodes, net: Importer) -> str:
    """Name the default value of a Pad of codes: the real value of code zero."""
    signed = net.moved_types[node.output].startswith("int")
    value = real_values(np.zeros((), np.int64), codes, signed=signed).astype(np.float32)
    label = net.unique(f"{node.name}.value")
    net.known[label] = Known(label, (), "float32", lambda: value)
    return label
