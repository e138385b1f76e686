"""Expands MatMulNBits and GatherBlockQuantized of com.microsoft: few bits, in blocks with scales.

SNPE has no such blocks. So the weights are converted to floats when they are first read, and the
quantiser computes new codes; the report of the import states this.

Not supported (such nodes stay unchanged): weights that vary, reordered groups (g_idx), and tables
of types other than uint8 or with blocks along their first axis.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.known import Array, Known
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.importer import Importer

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
    label = _real(node, net, blocks, (blocks.rows, blocks.columns), make)
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

    label = _real(node, net, blocks, (count, blocks.rows), table)
    parts = ExpansionNodes(node)
    return parts.finish(parts.add("Gather", [label, node.required(1)], axis=0))


def _real(
    node: OnnxNode, net: Importer, blocks: _Blocks, shape: Shape, make: Callable[[], Array]
) -> str:
    """Name the weights of a node as floats."""
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
