"""Gemm and MatMul with a constant right side."""

from __future__ import annotations

import math

import numpy as np

from hexsim.layers import FullyConnected
from hexsim.onnx_io.axis_order import identity
from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.known import Array
from hexsim.onnx_io.node import Node, NotALayerError


def gemm(node: Node, net: Importer) -> None:
    """Gemm becomes FullyConnected; alpha and beta go into weight and bias."""
    data = net.tensor(node.input(0), rank=2)
    matrix = net.array(node.input(1))
    if node.integer("transA", 0) or len(matrix.shape) != 2:
        raise NotALayerError("not a matrix applied to a vector")
    swap = bool(node.integer("transB", 0))
    inputs, outputs = matrix.shape[::-1] if swap else matrix.shape
    if data.source_shape[1] != inputs:
        raise ValueError(f"matrix {list(matrix.shape)} does not fit {data.source_shape[1]} inputs")
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)

    def weight(array: Array) -> Array:
        oriented = array.T if swap else array
        return oriented if alpha == 1.0 else oriented * np.asarray(alpha, array.dtype)

    bias = _bias(net, node.input(2), outputs, beta) if node.input(2) else None
    net.add(
        FullyConnected(
            name=node.name,
            inputs=(net.source_order(data.name),),
            outputs=(node.output,),
            weight=net.constant(
                matrix.name, f"fully_connected {swap} {alpha}", (inputs, outputs), weight
            ),
            bias=bias,
            output_channels=outputs,
        ),
        identity(2),
    )


def matmul(node: Node, net: Importer) -> None:
    """MatMul with a constant matrix becomes FullyConnected, one row per leading position."""
    data = net.tensor(node.input(0))
    matrix = net.array(node.input(1))
    shape = data.source_shape
    if len(matrix.shape) != 2 or len(shape) < 2:
        raise NotALayerError("not one matrix applied to vectors")
    inputs, outputs = matrix.shape
    if shape[-1] != inputs:
        raise ValueError(f"matrix {list(matrix.shape)} does not fit {shape[-1]} inputs")
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


def _bias(net: Importer, name: str, outputs: int, beta: float) -> str:
    """Name the bias, which must be the same for all rows."""
    known = net.array(name)
    if math.prod(known.shape[:-1]) != 1 or known.shape[-1:] not in ((), (1,), (outputs,)):
        raise NotALayerError("bias differs from row to row")

    def vector(array: Array) -> Array:
        scaled = array if beta == 1.0 else array * np.asarray(beta, array.dtype)
        return np.broadcast_to(scaled.reshape(-1), (outputs,))

    return net.constant(name, f"bias {outputs} {beta}", (outputs,), vector)


TRANSLATORS = {"Gemm": gemm, "MatMul": matmul}
