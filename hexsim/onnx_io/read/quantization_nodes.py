"""Removes the nodes of an ONNX file that quantise, and remembers their encodings as NodeCodes.

The network stays float (docs/concepts/overrides.md, "Quantising nodes"):

1. A QuantizeLinear whose only readers are DequantizeLinear nodes with the same codes is removed;
   each of those becomes a clamp without limits, which the passes remove.
2. onnxruntime's quantiser removes a Relu or Relu6 if the saturation of such a pair replaces it. So
   if the codes begin at zero and the values may be negative, the clamp is at zero, and also at six
   if the codes end there.
3. A DequantizeLinear of a known array is a known array: the float weight or bias.
4. Codes that nodes in between only move are moved as floats, from the results of nodes that
   quantise, from inputs, or from a constant table of which a Gather takes some. A Reshape of codes
   equals one of floats, and so does an operator that selects the largest or smallest. So integer
   tensors that such nodes link become floats, if all nodes that write or read them use the same
   encoding; constants among them, such as the limits of a Clip, are dequantised.
5. A node that quantises and dequantises at once is treated like such a pair; a weight is unchanged.
6. Integers that are an input or an output of the network become real numbers there if all nodes
   around them use the same codes; the network remembers that the file has codes (`CodedEnd`).
7. Any other node at the edge of the network stays, and its codes apply to its floats.

All other nodes (integer operators, varying scales, codes per channel of an activation) stay.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from hexsim.graph.network_ends import CodedEnd, CodeType
from hexsim.layers import NO_CLAMP, RELU, Clamp, Neuron
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.node_codes import (
    DEQUANTIZE,
    QUANTIZE,
    NodeCodes,
    fake_codes,
    integer_type,
    is_linear,
    linear_codes,
)

END_TYPES = ("uint8", "int8", "uint16", "int16")
"""Types of codes that an application can pass and receive."""

_CODES = ("int4", "int8", "int16")
"""Types of codes, without the sign."""

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


def type_taken(node: OnnxNode, net: Importer) -> str | None:
    """Return the type of the constant codes of which `node` moves some; None for other nodes."""
    data = [name for name in (node.input(place) for place in code_places(node)) if name]
    if not data or any(name not in net.known for name in data):
        return None
    dtype = net.known[data[0]].dtype
    is_folded = all(name in net.known for name in filter(None, node.inputs))
    if is_folded or node.outputs[0] in net.moved or dtype.removeprefix("u") not in _CODES:
        return None
    return dtype


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


_SIX = 6.0


def strip(node: OnnxNode, net: Importer) -> bool:
    """Remove `node` if it quantises or dequantises and the rules allow it; return True if removed.

    An input of codes becomes real before the first node that reads it, and so do constant codes of
    which a node moves some.
    """
    for name in node.inputs:
        if name not in net.judged and is_coded_input(name, net):
            net.judged.add(name)
            _make_real(name, net)
    if dtype := type_taken(node, net):
        region = Region(node.outputs[0], None, dtype, net)
        _remember(region, dtype, net)
    if is_linear(node, QUANTIZE):
        return _quantize(node, net) or _left(node, node.inputs[0], net)
    if is_linear(node, DEQUANTIZE):
        return _dequantize(node, net) or _left(node, node.output, net)
    codes = fake_codes(node, net.known)
    if codes is None:
        return False
    _pass_on(node.required(0), codes, node, net)
    return True


def _quantize(node: OnnxNode, net: Importer) -> bool:
    source = node.inputs[0]
    if node.output in net.moved:
        return _move(source, net.moved[node.output], node, net)
    dtype, shape = integer_type(node, net.known), net.source_shape(source)
    codes = linear_codes(node, net.known, dtype, shape)
    readers, is_end = net.facts.readers.get(node.output, ()), node.output in net.facts.outputs
    if (
        codes is None
        or len(readers) + is_end != net.facts.uses[node.output]
        or not (readers or is_end)
    ):
        return False
    if source in net.tensors and (codes.axis is not None or _coded_otherwise(source, codes, net)):
        return False
    if codes.axis is None and (
        is_end or not all(is_linear(reader, DEQUANTIZE) for reader in readers)
    ):
        region = Region(node.output, codes, dtype, net)
        _remember(region, dtype, net)
        return bool(region.names) and _move(source, codes, node, net)
    for reader in readers:
        if not is_linear(reader, DEQUANTIZE) or reader.inputs[0] != node.output:
            return False
        if linear_codes(reader, net.known, dtype, shape) != codes:
            return False
    net.stripped[node.output] = (source, codes)
    return True


def _make_real(name: str, net: Importer) -> None:
    """Make an input of codes real if all nodes around it use the same codes (rule 6)."""
    tensor = net.tensors[name]
    region = Region(name, None, tensor.dtype, net)
    if region.names:
        _remember(region, tensor.dtype, net)
        net.tensors[name] = replace(tensor, dtype="float32")


def _remember(region: Region, dtype: str, net: Importer) -> None:
    """Mark the integers of a region as floats, and record inputs and outputs among them."""
    if region.codes is None:
        return
    net.moved.update(dict.fromkeys(region.names, region.codes))
    net.moved_types.update(dict.fromkeys(region.names, dtype))
    if dtype not in END_TYPES:
        return
    (scale,), (offset,) = region.codes.scales, region.codes.offsets
    lowest = -(1 << (region.codes.bits - 1)) if dtype.startswith("int") else 0
    end = CodedEnd(cast(CodeType, dtype), scale, lowest - offset)
    inputs = {name for name in region.names if is_coded_input(name, net)}
    net.coded_ends.update(dict.fromkeys(inputs | (region.names & net.facts.outputs), end))


def _left(node: OnnxNode, floats: str, net: Importer) -> bool:
    """Remember the codes of a node that stays (rule 7), and return False."""
    quantizes = is_linear(node, QUANTIZE)
    integers = node.output if quantizes else node.inputs[0]
    edge = not net.facts.readers.get(integers) if quantizes else net.producer(integers) is None
    if edge and integers not in net.known:
        dtype = integer_type(node, net.known) if quantizes else net.dtype(integers)
        codes = linear_codes(node, net.known, dtype, net.source_shape(node.inputs[0]))
        if codes is not None and codes.axis is None:
            net.codes.setdefault(floats, codes)
    return False


def _move(source: str, codes: NodeCodes, node: OnnxNode, net: Importer) -> bool:
    """Replace the integers that `node` writes by the floats that it reads (rule 4)."""
    net.stripped[node.output] = (source, codes)
    _pass_on(source, codes, node, net)
    return True


def _coded_otherwise(source: str, codes: NodeCodes, net: Importer) -> bool:
    """True if an earlier pair had other codes for the same tensor."""
    return any(name == source and other != codes for name, other in net.stripped.values())


def _dequantize(node: OnnxNode, net: Importer) -> bool:
    name = node.inputs[0]
    if name in net.stripped:
        source, codes = net.stripped[name]
        _pass_on(source, codes, node, net)
        return True
    if name in net.moved:
        _pass_on(name, net.moved[name], node, net)
        return True
    if name not in net.known:
        return False
    known = net.known[name]
    codes_found = linear_codes(node, net.known, known.dtype, known.shape)
    if codes_found is None:
        return False
    signed = known.dtype.startswith("int")
    dtype = net.known[node.inputs[1]].dtype

    def read_real() -> Array:
        return real_values(known.read(), codes_found, signed=signed).astype(dtype)

    net.known[node.output] = Known(node.output, known.shape, dtype, read_real)
    net.codes[node.output] = codes_found
    return True


def _pass_on(source: str, codes: NodeCodes, node: OnnxNode, net: Importer) -> None:
    if source in net.known:
        known = net.known[source]
        net.known[node.output] = Known(node.output, known.shape, known.dtype, known.read)
        net.codes[node.output] = codes
        return
    tensor = net.tensor(source)
    clamp = _lost_clamp(source, codes, net)
    if clamp == NO_CLAMP:
        net.codes.setdefault(source, codes)
    if clamp != NO_CLAMP or (node.output in net.facts.outputs and net.producer(source) is None):
        net.codes.setdefault(node.output, codes)  # a clamp that stays has its own encoding
    layer = Neuron(*node.ends(source), function="clamp", clamp=clamp)
    net.add(layer, tensor.order)


def _lost_clamp(source: str, codes: NodeCodes, net: Importer) -> Clamp:
    """Return the clamp that the saturation of the codes may replace (rule 2)."""
    low, high = codes.limits()
    if low != 0 or not _may_be_negative(source, net):
        return NO_CLAMP
    return Clamp(0.0, _SIX) if abs(high - _SIX) <= codes.scales[0] / 2 else RELU


def _may_be_negative(name: str, net: Importer) -> bool:
    """True if a tensor may be negative, by the signs of the layers before it; False for inputs."""
    layer = net.producer(name)
    if layer is None:
        return name not in net.tensors
    if layer.sign == "as inputs":
        return any(_may_be_negative(input_, net) for input_ in layer.inputs)
    return layer.sign == "signed"


_NAMED = 3
"""How many nodes a note names; the JSON of `hexsim info` lists all of them."""
_UNSIMULATED = "the codes that its activations get from the range of each input are not simulated"
_PRODUCT = f"computed in real numbers: its weights are dequantised, and {_UNSIMULATED}"
_WHAT = {
    "DynamicQuantizeLinear": f"left out: {_UNSIMULATED.replace('its activations get', 'it makes')}",
    "ConvInteger": _PRODUCT,
    "MatMulInteger": _PRODUCT,
    "com.microsoft.DynamicQuantizeLSTM": _PRODUCT,
    "com.microsoft.DynamicQuantizeMatMul": _PRODUCT,
    "com.microsoft.MatMulIntegerToFloat": _PRODUCT,
    "com.microsoft.QAttention": _PRODUCT,
}
"""What becomes of a node that was expanded."""
_ALWAYS = ("DynamicQuantizeLinear", "DynamicQuantizeLSTM", "DynamicQuantizeMatMul")
"""Operators that always quantise dynamically; the others only if they read such codes."""


def dynamic_notes(expanded: Sequence[OnnxNode]) -> Iterator[str]:
    """Yield a note for each operator of `expanded` whose arithmetic differs from the file's."""
    quantize = [node for node in expanded if node.op_type == "DynamicQuantizeLinear"]
    dynamic = {name for node in quantize for name in node.outputs}
    names = defaultdict(list)
    for node in expanded:
        if node.op_type in _WHAT and (node.standard in _ALWAYS or node.input(0) in dynamic):
            names[node.op_type].append(f"'{node.name}'")
    for operator, nodes in names.items():
        more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
        subject = "node" if len(nodes) == 1 else "each of the nodes"
        yield f"{subject} {', '.join(nodes[:_NAMED])}{more} ({operator}) is {_WHAT[operator]}"
