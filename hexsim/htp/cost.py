"""The work of one kernel call on HMX, HVX, the ports of VTCM and DMA.

docs/concepts/htp.md states the rules and what they are inferred from: which layers are tiles of
HMX, which vectors of HVX, and how many. Rules that stand here alone:

- An operator without a layer type is the operations and products that its kind counts, on vectors
  and on HMX, and the vectors that its tensors take. Indices have 32 bits. A cast between types of
  indices is none: the layer before it writes the type that is wanted.
- HVX reads inputs that are states (keys and values) from DDR through L2 itself, when the layer
  runs: they are flat buffers of the CPU, while DMA fetches tiles ahead (inferred: tokens of models
  with many keys take as much longer).
- A recurrent layer consists of the operations of a network that writes its steps out, since
  deployments hand the processor one node for each step (onnxruntime-qnn, lstm_op_builder.cc of
  March 2026; the operations are inferred, and nothing is measured of them). Left out: the kernel
  for a whole sequence, an option of late releases.

A layer takes as long as the slowest of HMX, HVX and ports; weights are fetched at the same time.

Operands of a concatenation are requantised if they cannot have its encoding. Codes of a
concatenation have one encoding. A layer that computes can write its result in that encoding at
once, if nothing else reads the result. A tensor with several consumers keeps its own, and layers
that only move codes (slices, maximum pooling) keep that of their operand. This looks at the
structure alone, as graphs without encodings are planned too; operands whose encodings happen to be
equal are taken as different.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hexsim.graph.ir import Network, Shape
from hexsim.htp.layout import (
    DEPTH,
    SHALLOW,
    VECTOR_BYTES,
    as_image,
    crouton_bytes,
    in_tiles,
    padded_channels,
    padded_pixels,
    rounded_up,
    rows_of_crouton,
    stored_bytes,
    working_bytes,
)
from hexsim.layers import (
    ArgExtremum,
    BatchNorm,
    ChannelShuffle,
    Concat,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    MatMul,
    Neuron,
    Opaque,
    Pooling,
    Recurrent,
    Reshape,
    Softmax,
)
from hexsim.layers.recurrent import GATES, Cell
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace


def requantised(layer: Concat, network: Network) -> tuple[str, ...]:
    """Return the operands of `layer`, constants left out, that keep an encoding of their own."""
    return tuple(
        name
        for name in layer.inputs
        if name not in network.constants and not _takes_encoding(name, network)
    )


def _takes_encoding(name: str, network: Network) -> bool:
    """Tell whether the layer that computes a tensor can write it in its consumer's encoding."""
    while len(network.consumers[name]) == 1:
        writer = network.producers.get(name)
        if writer is None:
            return False
        if not writer.moves_codes:
            return True
        name = writer.inputs[0]
    return False


PRODUCTS = Convolution | Deconvolution | FullyConnected
_MOVES = frozenset(
    {"concatenation", "strided_slice", "reshape", "permute", "pad", "depth_to_space", "tile"}
)
_MIX_MATRICES = frozenset({"permute", "reshape"})
"""Layers whose results need more than one matrix of their operands."""
_INDICES = frozenset({"int64", "int32", "uint32", "uint64", "bool"})
_VECTORS_MOVED, _VECTORS_REST, _VECTORS_EDGE = 0.5, 1.5, 4.0
"""Vectors per vector of codes: of layers that move them, of all others, and of the network's inputs
and outputs (assumed)."""
_VECTORS_REQUANTISED = 1.0
"""Vectors per vector of codes that are requantised, as of an elementwise operation (assumed)."""
_NORMALISATION_OPERATIONS, _PER_CHANNEL = 3, 1
"""Elementwise operations of a normalisation of codes that is folded into no convolution: DenseNet
has 62, and 125 layers more on a device in codes than in floats (htp_latency.csv; inferred). One of
them has the factor and the summand of each channel (inferred from DenseNet's time)."""
_HMX_INPUTS = {"codes": 8, "floats": 16}
"""Input channels in whose multiples HMX multiplies: in codes the rate of its table, 8 on V73
(QEMU, machine_cfg of sa8775); in floats inferred from first layers."""
_FREE_TAPS = 14
"""Taps of a depthwise convolution within the time of bringing a vector into another order, if an
instruction multiplies and adds; with more the products count (inferred from networks of 3 x 3 and
of 5 x 5 in htp_latency.csv)."""


class _Cell(NamedTuple):
    """A step of a recurrent layer: `operations`, and those of them that compute with one state.

    `sums` and `functions` have an operand of one state; the gates have one of each in addition.
    """

    operations: int
    sums: int
    functions: int


_CELLS: Mapping[Cell, _Cell] = {
    "lstm": _Cell(16, 4, 1),
    "gru": _Cell(18, 4, 0),
    "rnn": _Cell(4, 0, 0),
}
"""The operator definitions of ONNX in operations (documented): the row of a step is cut from the
product of the sequence, then come the product with the state, and cuts, sums and functions of
gates. Those of a GRU are cut from both products, which the reset gate tells apart."""
_FUNCTION_VECTORS = {8: 1.0, 16: 2.0}
"""Vectors per vector of a function by bits: a table in 8, a polynomial in 16, in codes as in floats
(assumed)."""


@dataclass(frozen=True)
class CallCost:
    """Work of a call. `function_vectors` are those of functions of one number.

    `broadcast_vectors` are those of elementwise operations and depthwise convolutions on shallow
    images, or of elementwise ones with an operand that repeats, `row_vectors` those of matrices
    with an operand that all rows share, `regrouped_vectors` those of operands and results of
    convolutions with groups, and of the results of depthwise ones and of shuffles of channels,
    `softmax_vectors` those of the result of a softmax of 16 bits, `ordered_vectors` those of the
    second operands of products of two tensors, once for each block of rows,
    `unpacked_vectors` of weights in half floats that DDR holds as codes. `tap_share` is the time of
    the products of a depthwise convolution over that of the order of its vectors.
    `weight_bytes` come from DDR by DMA, `state_bytes` of states by HVX; `port_bytes` pass the ports
    of VTCM; `resident_bytes` are those of its operands and results, which VTCM should hold,
    `result_bytes` of the results, both for one of its `matrices`. `operators` is the number of
    operations that the compiler makes of the call, 0 if it leaves the call out. `steps` depend on
    each other, 0 where nothing does: each uses HMX, then HVX, and reads `step_bytes` of weights.
    """

    hmx_macs: float = 0.0
    vectors: float = 0.0
    function_vectors: float = 0.0
    broadcast_vectors: float = 0.0
    row_vectors: float = 0.0
    regrouped_vectors: float = 0.0
    softmax_vectors: float = 0.0
    ordered_vectors: float = 0.0
    unpacked_vectors: float = 0.0
    tap_share: float = 0.0
    weight_bytes: float = 0.0
    state_bytes: float = 0.0
    port_bytes: int = 0
    resident_bytes: int = 0
    result_bytes: int = 0
    matrices: int = 1
    operators: int = 1
    steps: float = 0
    step_bytes: float = 0.0


def cost_of(call: KernelCall, network: Network, tiles: frozenset[str] | None = None) -> CallCost:
    """Return the work of a call of `network`.

    `tiles` are the tensors without four axes that are tiles of HMX, None for those of `in_tiles`.
    """
    tiles = in_tiles(network) if tiles is None else tiles
    if _casts_indices(call, network) or _keeps_rows(call, network, tiles):
        return CallCost(operators=0)
    bits = call.activation_bits
    laid_out, matrices = _laid_out(call, tiles), _meets(call, tiles)
    tensors = shapes_by_name(call, network)
    work: dict[str, float] = {"weight_bytes": _plain_bytes(call)}
    operators = 1
    if isinstance(call.layer, PRODUCTS):
        work |= _product(call)
    elif isinstance(call.layer, MatMul):
        work |= _product_of_tensors(call, call.layer)
        operators += call.computes_float and call.layer.alpha != 1
    elif isinstance(call.layer, Opaque):
        work |= _of_operator(call, call.layer)
    elif isinstance(call.layer, Concat) and not call.computes_float:
        kept = requantised(call.layer, network)
        work |= _concatenation(laid_out, kept)
        operators = 1 + len(kept)
    elif isinstance(call.layer, BatchNorm) and not call.computes_float:
        operators = _NORMALISATION_OPERATIONS
        vectors = crouton_bytes(laid_out.results[0], bits) / VECTOR_BYTES
        work["vectors"] = (operators - _PER_CHANNEL) * vectors
        work["broadcast_vectors"] = _PER_CHANNEL * vectors
    elif isinstance(call.layer, Recurrent):
        work |= _chain(call, call.layer)
        operators += round(work["steps"]) * _CELLS[call.layer.cell].operations
    else:
        work |= _on_vectors(laid_out, matrices=matrices)
    ends = {name: math.prod(tensors[name]) for name in call.layer.inputs if name in network.inputs}
    states = [ends.pop(name) for name in tuple(ends) if name in network.states]
    work["state_bytes"] = sum(states) * bits / 8
    edge = sum(size for name, size in ends.items() if network.consumers[name][0] is call.layer)
    edge_vectors = _VECTORS_EDGE * edge * bits / 8 / VECTOR_BYTES
    work["vectors"] = work.get("vectors", 0.0) + edge_vectors
    work["unpacked_vectors"] = _unpacked_vectors(call, work["weight_bytes"])
    whole = call.layer.type in _MIX_MATRICES or len(call.results[0]) == 4
    held = stored_bytes if whole else working_bytes
    return CallCost(
        port_bytes=sum(
            crouton_bytes(shape, bits)
            for name, shape in zip(call.layer.inputs, laid_out.operands, strict=True)
            if name not in network.constants
        )
        + sum(crouton_bytes(shape, bits) for shape in laid_out.results)
        + round(work.get("steps", 0) * work.get("step_bytes", 0)),
        resident_bytes=sum(held(shape, bits) for shape in tensors.values()),
        result_bytes=sum(held(shape, bits) for shape in call.results),
        matrices=1 if whole else math.prod(call.results[0][:-2]),
        operators=operators,
        **work,
    )


def weight_bytes(call: KernelCall) -> float:
    """Return the bytes of the weights of a call as a prepared graph has them, in tiles."""
    plain = _plain_bytes(call)
    return _product(call).get("weight_bytes", plain) if isinstance(call.layer, PRODUCTS) else plain


def _plain_bytes(call: KernelCall) -> float:
    return sum(math.prod(shape) for shape in call.parameters) * call.weight_bits / 8


def shapes_by_name(call: KernelCall, network: Network) -> dict[str, Shape]:
    """Return the shapes of the operands and results of a call by name, without constants."""
    operands = zip(call.layer.inputs, call.operands, strict=True)
    tensors = {name: shape for name, shape in operands if name not in network.constants}
    return tensors | dict(zip(call.layer.outputs, call.results, strict=True))


def _laid_out(call: KernelCall, tiles: frozenset[str]) -> KernelCall:
    """Return the call with the shapes that its tensors have in croutons."""
    layer, in_matrices = call.layer, _meets(call, tiles)

    def laid_out(names: Sequence[str], shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        if not in_matrices:
            return tuple(as_image(shape) for shape in shapes)
        pairs = zip(names, shapes, strict=True)
        return tuple(
            (1, *shape) if name in tiles and len(shape) == 4 else shape for name, shape in pairs
        )

    operands = laid_out(layer.inputs, call.operands)
    return replace(call, operands=operands, results=laid_out(layer.outputs, call.results))


def _meets(call: KernelCall, tiles: frozenset[str]) -> bool:
    """Tell whether an operand or a result of a call is a matrix in tiles."""
    return not tiles.isdisjoint((*call.layer.inputs, *call.layer.outputs))


def _keeps_rows(call: KernelCall, network: Network, tiles: frozenset[str]) -> bool:
    """Tell whether a call only says otherwise how many matrices there are, and brings none in.

    So does a concatenation of whole matrices, which stay where they are, if it requantises none.
    """
    layer, rows = call.layer, (1, 1, *call.results[0])[-2:]
    if isinstance(layer, Concat):
        stay = tiles.issuperset(layer.inputs) and not requantised(layer, network)
    else:
        stay = isinstance(layer, Reshape)
    made = stay and network.producers.keys() >= {*layer.inputs}
    return made and all((1, 1, *shape)[-2:] == rows for shape in call.operands)


def _casts_indices(call: KernelCall, network: Network) -> bool:
    """Tell whether a call is a cast from or to an index, of which the graph has one type alone.

    Positions of an extremum are floats here and integers on the processor.
    """
    layer = call.layer
    if not isinstance(layer, Opaque) or layer.op_type != "Cast":
        return False
    types = {network.tensors[name].dtype for name in (*layer.inputs, *layer.outputs)}
    writer = network.producers.get(layer.inputs[0])
    return types <= _INDICES or (isinstance(writer, ArgExtremum) and bool(types & _INDICES))


def _of_operator(call: KernelCall, layer: Opaque) -> dict[str, float]:
    """Return the work of an operator without a layer type."""
    in_vector = 8 * VECTOR_BYTES / call.activation_bits
    moved = layer.elements_read(call.operands) + sum(math.prod(shape) for shape in call.results)
    vectors = (layer.operations + _VECTORS_MOVED * moved) / in_vector
    return {"hmx_macs": float(layer.products), "vectors": vectors}


def _product(call: KernelCall) -> dict[str, float]:
    layer, bits = call.layer, call.activation_bits
    pixels = padded_pixels(call.results[0], bits)
    if isinstance(layer, FullyConnected):
        taps, groups = 1.0, 1
        inputs, outputs = call.parameters[0][0], call.parameters[0][-1]
    else:
        assert isinstance(layer, Convolution | Deconvolution)
        taps, groups = float(layer.window.taps), layer.groups
        inputs, outputs = as_image(call.operands[0])[3], layer.output_channels
        if isinstance(layer, Deconvolution):
            taps /= math.prod(call.results[0][1:3]) / math.prod(call.operands[0][1:3])
    if groups > 1 and groups == inputs:
        vectors = pixels * padded_channels(outputs) * bits / 8 / VECTOR_BYTES
        kind = "broadcast_vectors" if outputs <= SHALLOW else "regrouped_vectors"
        return {kind: vectors, "tap_share": taps / _FREE_TAPS}
    in_tile = max(1, DEPTH // max(1, inputs // groups))
    tiles = math.ceil(groups / in_tile)
    of_tile = [padded_channels(size * min(in_tile, groups) // groups) for size in (inputs, outputs)]
    weights = taps * tiles * math.prod(of_tile)
    step = _HMX_INPUTS["floats" if call.computes_float else "codes"]
    read = rounded_up(inputs, step) / of_tile[0] if groups == 1 else 1.0
    tensors = (call.operands[0], call.results[0]) if groups > 1 else ()
    return {
        "hmx_macs": pixels * weights * read,
        "weight_bytes": weights * call.weight_bits / 8,
        "regrouped_vectors": sum(crouton_bytes(shape, bits) for shape in tensors) / VECTOR_BYTES,
    }


def _chain(call: KernelCall, layer: Recurrent) -> dict[str, float]:
    """Return the work of a recurrent layer; both directions run on the same units."""
    length, batch, inputs = call.operands[0]
    bits, gates = call.activation_bits, GATES[layer.cell] * layer.hidden
    rows = padded_pixels((1, 1, length * batch, layer.columns), bits)
    of_sequence = rows * padded_channels(inputs) * padded_channels(layer.columns)
    weights = padded_channels(layer.hidden) * padded_channels(gates)
    steps = length * layer.directions
    step_rows = padded_pixels((1, 1, batch, gates), bits)
    of_gates, of_state = (
        crouton_bytes((1, 1, batch, size), bits) / VECTOR_BYTES for size in (gates, layer.hidden)
    )
    cell = _CELLS[layer.cell]
    functions = _FUNCTION_VECTORS[bits] * (of_gates + cell.functions * of_state)
    return {
        "steps": steps,
        "step_bytes": weights * call.weight_bits / 8,
        "hmx_macs": of_sequence + steps * step_rows * weights,
        "vectors": steps * (of_gates + cell.sums * of_state),
        "function_vectors": steps * functions,
    }


def _product_of_tensors(call: KernelCall, layer: MatMul) -> dict[str, float]:
    """Return the tiles of a product of two tensors, and the vectors of the second one in order.

    Matrices of the first one that share a matrix of the second, as heads share keys, are rows of
    one product.
    """
    (result,), second, bits = call.results, call.operands[1], call.activation_bits
    matrices = math.prod(second[:-2])
    blocks = matrices * math.ceil(math.prod(result[:-1]) / matrices / rows_of_crouton(bits))
    weights = padded_channels(result[-1]) * padded_channels(call.operands[0][-1])
    scaled = call.computes_float and layer.alpha != 1
    scaled_bytes = crouton_bytes((1, 1, *result), bits) if scaled else 0
    return {
        "hmx_macs": blocks * rows_of_crouton(bits) * weights,
        "ordered_vectors": blocks * weights * bits / 8 / VECTOR_BYTES,
        "broadcast_vectors": scaled_bytes / VECTOR_BYTES,
    }


def _unpacked_vectors(call: KernelCall, weight_bytes: float) -> float:
    """Return the vectors of floats that codes of weights become before HMX reads them."""
    if not call.computes_float or call.weight_bits >= call.activation_bits:
        return 0.0
    return weight_bytes / call.weight_bits * call.activation_bits / VECTOR_BYTES


def _elementwise(call: KernelCall, *, matrices: bool) -> str:
    """Return the kind of vectors of an elementwise operation.

    An operand that is repeated along others than the last two axes alone, as a mask for all heads
    is, is the same for each matrix. With a scalar the result is a function of one number, which a
    table has in 8 bits.
    """
    last = (1, 1, *call.results[0])[-2:]
    ends = [(1, 1, *shape)[-2:] for shape in call.operands]
    if call.activation_bits == 8 and any(math.prod(shape) == 1 for shape in call.operands):
        return "vectors"
    if not matrices and as_image(call.results[0])[3] <= SHALLOW:
        return "broadcast_vectors"
    if all(end == last for end in ends):
        return "vectors"
    shared = matrices and all(end == last or end == (1, last[1]) for end in ends)
    return "row_vectors" if shared else "broadcast_vectors"


def _concatenation(call: KernelCall, kept: tuple[str, ...]) -> dict[str, float]:
    """Return the vectors of a concatenation of codes, whose operands `kept` are requantised."""
    vectors = 0.0
    for name, shape in zip(call.layer.inputs, call.operands, strict=True):
        factor = _VECTORS_REQUANTISED if name in kept else _VECTORS_MOVED
        vectors += factor * crouton_bytes(shape, call.activation_bits) / VECTOR_BYTES
    return {"vectors": vectors}


def _on_vectors(call: KernelCall, *, matrices: bool) -> dict[str, float]:
    layer, bits = call.layer, call.activation_bits
    result = crouton_bytes(call.results[0], bits) / VECTOR_BYTES
    operand = crouton_bytes(call.operands[0], bits) / VECTOR_BYTES if call.operands else 0.0
    if isinstance(layer, Neuron):
        return {"function_vectors": _FUNCTION_VECTORS[bits] * result}
    if isinstance(layer, Elementwise):
        return {_elementwise(call, matrices=matrices): result}
    if isinstance(layer, ChannelShuffle):
        return {"regrouped_vectors": result}
    if isinstance(layer, Pooling):
        return {"vectors": operand}
    if isinstance(layer, Softmax) and bits == 16:
        return {"softmax_vectors": result}
    if layer.type in _MOVES:
        return {"vectors": _VECTORS_MOVED * result}
    return {"vectors": _VECTORS_REST * max(operand, result)}
