"""Removes the nodes of an ONNX file that quantise, and remembers their encodings as NodeCodes.

The network stays float:
1. A QuantizeLinear whose only readers are DequantizeLinear nodes with the same codes is removed;
   each of those becomes a clamp without limits, which the passes remove.
2. onnxruntime's quantiser removes a Relu or Relu6 if the saturation of such a pair replaces it. So
   if the codes begin at zero and the values may be negative, the clamp is at zero, and also at six
   if the codes end there.
3. A DequantizeLinear of a known array is a known array: the float weight or bias.
4. Codes that nodes in between only move are moved as floats (`moved_codes`).
5. A node that quantises and dequantises at once is treated like such a pair; a weight is unchanged.
6. Integers that are an input or an output of the network become real numbers there if all nodes
   around them use the same codes; the network remembers that the file has codes (`CodedEnd`).
7. Any other node at the edge of the network stays, and its codes apply to its floats.
All other nodes (integer operators, varying scales, codes per channel of an activation) stay as they
are in the file.
"""

from dataclasses import replace
from typing import cast

from hexsim.graph.coded_end import CodedEnd, CodeType
from hexsim.layers import NO_CLAMP, RELU, Clamp, Neuron
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.moved_codes import END_TYPES, Region, is_coded_input, real_values
from hexsim.onnx_io.read.node_codes import (
    DEQUANTIZE,
    QUANTIZE,
    NodeCodes,
    fake_codes,
    integer_type,
    is_linear,
    linear_codes,
)

_SIX = 6.0


def strip(node: OnnxNode, net: Importer) -> bool:
    """Remove `node` if it quantises or dequantises and the rules allow it; return True if removed.

    An input of codes becomes real before the first node that reads it.
    """
    for name in node.inputs:
        if name not in net.judged and is_coded_input(name, net):
            net.judged.add(name)
            _make_real(name, net)
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
    """Make the output of `node` equal to `source`, and remember its codes."""
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
    layer = Neuron(
        name=node.name, inputs=(source,), outputs=(node.output,), function="clamp", clamp=clamp
    )
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
