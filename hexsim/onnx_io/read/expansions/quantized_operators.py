"""Expands operators on quantised values, of ONNX and com.microsoft.

QLinear operators become a float operator between DequantizeLinear and QuantizeLinear. Not
supported: images with channels last, and scales that vary.

SNPE has no dynamic quantisation, so its operators become those of a float network, quantised like
any other. If only integer products read the codes of a DynamicQuantizeLinear, it passes its input
on with scale 1 and zero point 0, and the products become float products with the codes of the
weights. The scale of their results, 1 times the scale of the weights, is folded into them.

MatMulNBits and GatherBlockQuantized have few bits, in blocks with scales. SNPE has no such blocks,
so the weights are converted to floats when they are first read, and the quantiser computes new
codes; the report of the import states this. Not supported: weights that vary, reordered groups
(g_idx), and tables of types other than uint8 or with blocks along their first axis.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.file_graph import FileGraph
from hexsim.onnx_io.read.importer import Importer
from hexsim.records import dataclass

_Expand = Callable[[OnnxNode, FileGraph, ExpansionNodes], str | None]


def qlinear_conv(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearConv; the scale of its bias is the product of input and weight scale."""
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=0)]
    if node.input(8):
        scale = parts.add("Mul", [node.required(1), node.required(4)])
        inputs.append(_dequantized([node.input(8), scale], parts, axis=0))
    return _coded(parts.copy("Conv", inputs), node, 6, parts)


def qlinear_matmul(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearMatMul; scales of the right side are per column."""
    rank = graph.rank(node.required(3)) or 2
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=rank - 1)]
    return _coded(parts.add("MatMul", inputs), node, 6, parts)


def qgemm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QGemm; without an output scale, its output is float."""
    axis = 0 if node.integer("transB", 0) else 1
    inputs = [_real(node, 0, parts), _real(node, 3, parts, axis=axis)]
    if node.input(6):
        scale = parts.add("Mul", [node.required(1), node.required(4)])
        inputs.append(_dequantized([node.input(6), scale], parts, axis=0))
    result = parts.copy("Gemm", inputs)
    return _coded(result, node, 7, parts) if node.input(7) else result


def of_two(operator: str) -> _Expand:
    """Return the expansion of a function of two quantised tensors."""

    def expand(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
        inputs = [_real(node, 0, parts), _real(node, 3, parts)]
        return _coded(parts.add(operator, inputs), node, 6, parts)

    return expand


def of_one(operator: str, *without: str) -> _Expand:
    """Return the expansion of a function of one quantised tensor.

    `without` are attributes that the float operator does not have.
    """

    def expand(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
        if node.integer("channels_last", 0):
            return None
        result = parts.copy(operator, [_real(node, 0, parts)], ("channels_last", *without))
        return _coded(result, node, 3, parts)

    return expand


def qlinear_concat(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """Expand QLinearConcat, whose first inputs are the scale and zero point of its output."""
    inputs = [_real(node, position, parts) for position in range(2, len(node.inputs), 3)]
    return _coded(parts.copy("Concat", inputs), node, 0, parts)


def _real(node: OnnxNode, position: int, parts: ExpansionNodes, axis: int | None = None) -> str:
    """Dequantise the codes at `position`; their scale and zero point follow them."""
    return _dequantized(list(node.inputs[position : position + 3]), parts, axis)


def _dequantized(inputs: list[str], parts: ExpansionNodes, axis: int | None = None) -> str:
    """Add a DequantizeLinear of com.microsoft, which has axes in every opset."""
    axes = {} if axis is None else {"axis": axis}
    present_inputs = [name for name in inputs if name]
    return parts.add("DequantizeLinear", present_inputs, domain="com.microsoft", **axes)


def _coded(result: str, node: OnnxNode, position: int, parts: ExpansionNodes) -> str:
    """Quantise `result` by the scale and zero point at `position`; return all nodes."""
    codes = [name for name in node.inputs[position : position + 2] if name]
    return parts.add("QuantizeLinear", [result, *codes], domain="com.microsoft")


_PRODUCTS = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
_CODES: Mapping[str, tuple[int, int | None, int]] = {
    "ConvInteger": (0, None, 2),
    "MatMulInteger": (0, None, 2),
    "com.microsoft.MatMulIntegerToFloat": (0, 2, 4),
    "com.microsoft.QAttention": (0, 3, 6),
}
"""Positions of an activation's codes, its scale (if read) and its zero point among the inputs."""


def dynamic_quantize_linear(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Pass the floats on if only integer products read the codes."""
    if not _hands_on_floats(node, graph):
        return None
    _, scale, zero = node.outputs
    parts.constant(1.0, output=scale)
    parts.constant(0.0, output=zero)
    return parts.add("Identity", [node.required(0)])


def integer_product(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """Expand ConvInteger and MatMulInteger of such floats to Conv and MatMul."""
    quantize = graph.producers.get(node.required(0))
    if quantize is None or not _hands_on_floats(quantize, graph):
        return None
    weight = parts.add("Cast", [node.required(1)], to=onnx.TensorProto.FLOAT)
    if node.input(3):
        zero = parts.add("Cast", [node.input(3)], to=onnx.TensorProto.FLOAT)
        rank = graph.rank(node.required(1))
        if node.standard == "ConvInteger" and graph.rank(node.input(3)) != 0:
            if rank is None:
                return None
            zero = parts.reshape(zero, [-1, *(1,) * (rank - 1)])
        weight = parts.add("Sub", [weight, zero])
    return parts.copy(_PRODUCTS[node.standard], [node.required(0), weight])


def dynamic_quantize_matmul(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """DynamicQuantizeMatMul is a product with dequantised weights, and a sum with its bias."""
    weight = dequantized(node, (1, 2, 3), graph, parts)
    result = parts.add("MatMul", [node.required(0), weight])
    return parts.add("Add", [result, node.input(4)]) if node.input(4) else result


def matmul_to_float(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str:
    """MatMulIntegerToFloat is a product of dequantised tensors, and a sum with its bias."""
    data = real_codes(node, (0, 2, 4), graph, parts)
    result = parts.add("MatMul", [data, dequantized(node, (1, 3, 5), graph, parts)])
    return parts.add("Add", [result, node.input(6)]) if node.input(6) else result


def real_codes(
    node: OnnxNode, places: Sequence[int], graph: FileGraph, parts: ExpansionNodes
) -> str:
    """Name the floats of an activation with codes, scale and zero point at input `places`."""
    writer = graph.producers.get(node.required(places[0]))
    if writer is not None and _hands_on_floats(writer, graph):
        return node.required(places[0])
    return dequantized(node, places, graph, parts)


def dequantized(
    node: OnnxNode, places: Sequence[int], graph: FileGraph, parts: ExpansionNodes
) -> str:
    """Dequantise codes with one scale, or one per column; return the name of the floats."""
    codes, scale, zero = (node.input(place) for place in places)
    axis = {} if graph.rank(scale) == 0 else {"axis": 1}
    inputs = [name for name in (codes, scale, zero) if name]
    return parts.add("DequantizeLinear", inputs, domain="com.microsoft", **axis)


def _hands_on_floats(node: OnnxNode, graph: FileGraph) -> bool:
    """True if only products that accept floats read the codes of a DynamicQuantizeLinear."""
    if node.op_type != "DynamicQuantizeLinear" or len(node.outputs) != 3:
        return False
    values, scale, zero = node.outputs
    if {values, zero} & graph.outputs:
        return False
    for name in (values, zero):
        for reader in graph.readers.get(name, ()):
            places = _CODES.get(reader.op_type)
            if places is None:
                return False
            expected = zip(places, (values, scale, zero), strict=True)
            if any(
                place is not None and reader.input(place) != tensor for place, tensor in expected
            ):
                return False
    return True


_WEIGHTS = ((1, 8), (2, 10))
"""Positions of the codes and of their scale among the inputs; the zero point follows the scale."""


def dynamic_quantize_lstm(node: OnnxNode, graph: FileGraph, parts: ExpansionNodes) -> str | None:
    """LSTM in floats; codes are (directions, inputs, gates), with a scale of one or two axes."""
    inputs = list(node.inputs[:8])
    for position, scale in _WEIGHTS:
        if graph.rank(node.required(scale)) not in (1, 2):
            return None
        floats = parts.add("Cast", [node.required(position)], to=onnx.TensorProto.FLOAT)
        zero = parts.add("Cast", [node.required(scale + 1)], to=onnx.TensorProto.FLOAT)
        floats = parts.add("Sub", [floats, _spread(zero, parts)])
        floats = parts.add("Mul", [floats, _spread(node.required(scale), parts)])
        inputs[position] = parts.add("Transpose", [floats], perm=[0, 2, 1])
    while not inputs[-1]:
        inputs.pop()
    result = parts.copy("LSTM", inputs)
    parts.nodes[-1].output.extend(node.outputs[1:])
    return result


def _spread(name: str, parts: ExpansionNodes) -> str:
    """Add an axis of inputs to numbers per direction, or per direction and gate."""
    return parts.reshape(name, [0, 1, -1])


EXPANSIONS = {
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
    "com.microsoft.QGemm": qgemm,
    "com.microsoft.QLinearAdd": of_two("Add"),
    "com.microsoft.QLinearAveragePool": of_one("AveragePool"),
    "com.microsoft.QLinearConcat": qlinear_concat,
    "com.microsoft.QLinearGlobalAveragePool": of_one("GlobalAveragePool"),
    "com.microsoft.QLinearLeakyRelu": of_one("LeakyRelu"),
    "com.microsoft.QLinearMul": of_two("Mul"),
    "com.microsoft.QLinearSigmoid": of_one("Sigmoid"),
    "com.microsoft.QLinearSoftmax": of_one("Softmax", "opset"),
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "ConvInteger": integer_product,
    "MatMulInteger": integer_product,
    "com.microsoft.DynamicQuantizeMatMul": dynamic_quantize_matmul,
    "com.microsoft.MatMulIntegerToFloat": matmul_to_float,
    "com.microsoft.DynamicQuantizeLSTM": dynamic_quantize_lstm,
}


_BITS = (2, 4, 8)


@dataclass(frozen=True)
class _Blocks:
    """Codes of a matrix (rows, columns) whose columns are cut into blocks of `size` rows."""

    rows: int
    columns: int
    bits: int
    size: int

    @property
    def count(self) -> int:
        """Blocks of one column."""
        return -(-self.rows // self.size)

    def unpacked(self, codes: Array, count: int) -> Array:
        """Return codes (columns, count), packed into bytes from the lowest bits, as floats."""
        shifts = np.arange(0, 8, self.bits, dtype=np.uint8)
        parts = (codes.reshape(self.columns, -1, 1) >> shifts) & (2**self.bits - 1)
        floats: Array = parts.reshape(self.columns, -1)[:, :count].astype(np.float32)
        return floats

    def weights(self, codes: Known, scales: Known, zeros: Known | None) -> Array:
        """Return the matrix (rows, columns) as floats."""
        shape = (self.columns, self.count, 1)
        levels = self.unpacked(codes.read(), self.count * self.size)
        middle: Array = np.full(shape, 2 ** (self.bits - 1), np.float32)
        if zeros is not None:
            packed = zeros.read()
            middle = self.unpacked(packed, self.count) if packed.dtype == np.uint8 else packed
        weights = levels.reshape(*shape[:2], self.size) - middle.reshape(shape)
        weights *= scales.read().reshape(shape)
        return np.ascontiguousarray(weights.reshape(self.columns, -1)[:, : self.rows].T)


def matmul_nbits(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Return the product with the real weights, plus the bias."""
    data = node.required(0)
    if net.dtype(data) != "float32":
        raise NotALayerError("not float32")
    if node.input(4):
        raise NotALayerError("its weights have groups in an order of their own (g_idx)")
    blocks = _blocks(node)
    codes, scales = (net.array(node.required(place)) for place in (1, 2))
    zeros = net.array(node.inputs[3]) if node.input(3) else None
    _require(blocks, codes, blocks.columns * blocks.count * blocks.size * blocks.bits // 8, "uint8")
    _require(blocks, scales, blocks.columns * blocks.count, "float32")
    if zeros is not None:
        packed = zeros.dtype == "uint8"
        zeros_per_column = -(-blocks.count * blocks.bits // 8) if packed else blocks.count
        _require(blocks, zeros, blocks.columns * zeros_per_column, "uint8" if packed else "float32")
    make = partial(blocks.weights, codes, scales, zeros)
    label = _weights_as_floats(node, net, blocks, (blocks.rows, blocks.columns), make)
    parts = ExpansionNodes(node)
    result = parts.add("MatMul", [data, label])
    return parts.finish(parts.add("Add", [result, node.input(5)]) if node.input(5) else result)


def gather_block_quantized(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Return the look-up in a table of floats."""
    codes, scales = (net.array(node.required(place)) for place in (0, 2))
    zeros = net.array(node.inputs[3]) if node.input(3) else None
    if codes.dtype != "uint8" or len(codes.shape) != 2:
        raise NotALayerError("its table is not one of uint8 with two axes")
    if node.integer("gather_axis", 0) != 0 or node.integer("quantize_axis", 1) not in (1, -1):
        raise NotALayerError("its blocks are not those of rows")
    bits, size = node.integer("bits", 4), node.integer("block_size", 128)
    count, columns = codes.shape
    blocks = _valid(_Blocks(columns * 8 // max(bits, 1), count, bits, size))
    if blocks.rows % size:
        raise NotALayerError(f"its rows of {blocks.rows} numbers are no whole blocks of {size}")
    _require(blocks, scales, count * blocks.count, "float32")
    if zeros is not None:
        _require(blocks, zeros, count * -(-blocks.count * bits // 8), "uint8")

    def table() -> Array:
        return np.ascontiguousarray(blocks.weights(codes, scales, zeros).T)

    label = _weights_as_floats(node, net, blocks, (count, blocks.rows), table)
    parts = ExpansionNodes(node)
    return parts.finish(parts.add("Gather", [label, node.required(1)], axis=0))


def _weights_as_floats(
    node: OnnxNode, net: Importer, blocks: _Blocks, shape: Shape, make: Callable[[], Array]
) -> str:
    net.charge(node.name, blocks.rows * blocks.columns)
    label = net.unique(f"{node.inputs[1 if node.has('K') else 0]}.real")
    net.known[label] = Known(label, shape, "float32", make)
    note = (
        f"weights of {blocks.bits} bits in blocks ({node.standard}) are taken as floats, which are "
        "quantised anew"
    )
    if note not in net.record.notes:
        net.record.notes.append(note)
    return label


def _blocks(node: OnnxNode) -> _Blocks:
    return _valid(
        _Blocks(
            rows=node.integer("K", 0),
            columns=node.integer("N", 0),
            bits=node.integer("bits", 4),
            size=node.integer("block_size", 0),
        )
    )


def _valid(blocks: _Blocks) -> _Blocks:
    if blocks.bits not in _BITS:
        raise NotALayerError(f"its weights have {blocks.bits} bits, not {_BITS}")
    if min(blocks.rows, blocks.columns) < 1 or blocks.size < 16 or blocks.size & (blocks.size - 1):
        raise InvalidDataError(
            f"K {blocks.rows}, N {blocks.columns} and block_size {blocks.size} are no sizes of "
            "blocks"
        )
    return blocks


def _require(blocks: _Blocks, array: Known, count: int, dtype: str) -> None:
    elements = int(np.prod(array.shape))
    if elements != count or array.dtype != dtype:
        raise InvalidDataError(
            f"'{array.name}' holds {elements} numbers of {array.dtype}, not {count} of {dtype}"
        )


SHAPED = {
    "com.microsoft.GatherBlockQuantized": gather_block_quantized,
    "com.microsoft.MatMulNBits": matmul_nbits,
}
