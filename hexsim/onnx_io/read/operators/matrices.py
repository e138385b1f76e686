"""Gemm and MatMul: FullyConnected for a constant right side, else MatMul of two operands."""

import math

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.layers import FullyConnected
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators._computed_matrices import matrix_operand, product, sum_with


def gemm(node: OnnxNode, net: Importer) -> None:
    """Gemm with constant weights becomes FullyConnected, any other a MatMul and a sum.

    Alpha, beta and a bias that is the same for all rows are folded into weight and bias.
    """
    data, matrix = node.inputs[:2]
    alpha, beta, added = node.real("alpha", 1.0), node.real("beta", 1.0), node.input(2)
    if any(len(net.source_shape(name)) != 2 for name in (data, matrix)):
        raise InvalidDataError("its operands are not matrices")
    swaps = bool(node.integer("transA", 0)), bool(node.integer("transB", 0))
    has_weights = _applies_weights(node, net)
    in_layer = has_weights and _is_bias(net, added, matrix, swaps[1])
    if added and not in_layer and beta != 1.0:
        net.array(added)
    result = node.output if in_layer or not added else net.unique(f"{node.name}.product")
    if has_weights:
        bias = (added, beta) if added and in_layer else None
        _weighted(node, net, result, swaps, alpha, bias)
    else:
        product(node, net, result, swaps, alpha)
    if added and not in_layer:
        sum_with(node, net, result, beta)


def _weighted(
    node: OnnxNode,
    net: Importer,
    output: str,
    swaps: tuple[bool, bool],
    alpha: float,
    bias: tuple[str, float] | None,
) -> None:
    """Add the FullyConnected layer of a Gemm; `bias` is a known array and its factor."""
    data, matrix = net.tensor(node.input(0)), net.array(node.input(1))
    swap = swaps[1]
    inputs, outputs = matrix.shape[::-1] if swap else matrix.shape
    if data.source_shape[0 if swaps[0] else 1] != inputs:
        raise InvalidDataError(
            f"matrix {list(matrix.shape)} does not fit {list(data.source_shape)}"
        )

    def weight(array: Array) -> Array:
        oriented = array.T if swap else array
        return oriented if alpha == 1.0 else oriented * np.asarray(alpha, array.dtype)

    net.add(
        FullyConnected(
            name=node.name,
            inputs=(matrix_operand(net, node, 0, data.source_shape, swaps[0]),),
            outputs=(output,),
            weight=net.constant(
                matrix.name, f"fully_connected {swap} {alpha}", (inputs, outputs), weight
            ),
            bias=None if bias is None else _bias(net, bias[0], outputs, bias[1]),
            output_channels=outputs,
        ),
        identity(2),
    )


def matmul(node: OnnxNode, net: Importer) -> None:
    """MatMul with a constant matrix becomes FullyConnected, one row per leading position."""
    if not _applies_weights(node, net):
        product(node, net, node.output)
        return
    data = net.tensor(node.input(0))
    matrix = net.array(node.input(1))
    shape = data.source_shape
    inputs, outputs = matrix.shape
    if shape[-1] != inputs:
        raise InvalidDataError(f"matrix {list(matrix.shape)} does not fit {shape[-1]} inputs")
    rows, result = net.source_order(data.name), node.output
    if len(shape) > 2:
        rows, result = net.unique(f"{node.name}.rows"), net.unique(f"{node.name}.result")
        net.reshape(rows, net.source_order(data.name), (math.prod(shape[:-1]), inputs), rows)
    net.add(
        FullyConnected(
            name=node.name,
            inputs=(rows,),
            outputs=(result,),
            weight=net.as_is(matrix.name),
            output_channels=outputs,
        ),
        identity(2),
    )
    if len(shape) > 2:
        net.reshape(net.unique(f"{node.name}.shape"), result, (*shape[:-1], outputs), node.output)


def _applies_weights(node: OnnxNode, net: Importer) -> bool:
    """True if the right side is one constant matrix, and the left side is computed."""
    data, matrix = node.inputs[:2]
    return (
        data in net.tensors
        and matrix in net.known
        and len(net.source_shape(matrix)) == 2
        and len(net.source_shape(data)) > 1
    )


def _is_bias(net: Importer, name: str, matrix: str, swap: bool) -> bool:
    """True if the array `name` is the same for all rows of a product with `matrix`."""
    if name not in net.known:
        return False
    shape, outputs = net.source_shape(name), net.source_shape(matrix)[0 if swap else 1]
    return math.prod(shape[:-1]) == 1 and shape[-1:] in ((), (1,), (outputs,))


def _bias(net: Importer, name: str, outputs: int, beta: float) -> str:
    """Name the bias, one number for each output."""

    def vector(array: Array) -> Array:
        scaled = array if beta == 1.0 else array * np.asarray(beta, array.dtype)
        return np.broadcast_to(scaled.reshape(-1), (outputs,))

    return net.constant(name, f"bias {outputs} {beta}", (outputs,), vector)


TRANSLATORS = {"Gemm": gemm, "MatMul": matmul}
