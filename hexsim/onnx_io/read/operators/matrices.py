"""Gemm and MatMul: FullyConnected for a constant right side, else MatMul of two operands."""

import math

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import Elementwise, FullyConnected, MatMul, Permute
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer


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
        _product(node, net, result, swaps, alpha)
    if added and not in_layer:
        _sum_with(node, net, result, beta)


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
        return array.T if swap else array

    net.add(
        FullyConnected(
            node.name,
            (_matrix_operand(net, node, 0, data.source_shape, swaps[0]),),
            (output,),
            weight=net.constant(
                matrix.name, f"fully_connected {swap} {alpha}", (inputs, outputs), weight, alpha
            ),
            bias=None if bias is None else _bias(net, bias[0], outputs, bias[1]),
            output_channels=outputs,
        ),
        identity(2),
    )


def matmul(node: OnnxNode, net: Importer) -> None:
    """MatMul with a constant matrix becomes FullyConnected, one row per leading position."""
    if not _applies_weights(node, net):
        _product(node, net, node.output)
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
            node.name, (rows,), (result,), weight=net.as_is(matrix.name), output_channels=outputs
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
    def vector(array: Array) -> Array:
        return np.broadcast_to(array.reshape(-1), (outputs,))

    return net.constant(name, f"bias {outputs} {beta}", (outputs,), vector, beta)


def _product(
    node: OnnxNode,
    net: Importer,
    output: str,
    swaps: tuple[bool, bool] = (False, False),
    alpha: float = 1.0,
) -> None:
    """Add the MatMul of the first two inputs of `node`; `swaps` says which are transposed.

    A vector is a matrix of one row on the left, and of one column on the right.
    """
    names = node.inputs[:2]
    shapes = [net.source_shape(name) for name in names]
    if not any(name in net.tensors for name in names) or any(not shape for shape in shapes):
        raise NotALayerError("nothing varies, or something is a scalar")
    if any(net.dtype(name) != "float32" for name in names):
        raise NotALayerError("not float32")
    padded: list[Shape] = [
        (1, *shapes[0]) if len(shapes[0]) == 1 else shapes[0],
        (*shapes[1], 1) if len(shapes[1]) == 1 else shapes[1],
    ]
    inner = padded[0][-2 if swaps[0] else -1], padded[1][-1 if swaps[1] else -2]
    if inner[0] != inner[1]:
        raise InvalidDataError(f"{list(shapes[0])} does not fit {list(shapes[1])}")
    left = _matrix_operand(net, node, 0, padded[0], swaps[0])
    right, transposed = _as_stored(net, names[1]) if not swaps[1] else (names[1], True)
    if right == names[1]:
        right = _matrix_operand(net, node, 1, padded[1], swap=False)
    are_matrices = padded == shapes
    result = output if are_matrices else net.unique(f"{node.name}.result")
    layer = MatMul(node.name, (left, right), (result,), transposed=transposed, alpha=alpha)
    net.add(layer, identity(max(map(len, padded))))
    if not are_matrices:
        added_axes = [side - 2 for side in (0, 1) if padded[side] != shapes[side]]
        sizes = net.source_shape(result)
        target = tuple(n for axis, n in enumerate(sizes) if axis - len(sizes) not in added_axes)
        net.reshape(net.unique(f"{node.name}.shape"), result, target, output)


def _matrix_operand(net: Importer, node: OnnxNode, side: int, target: Shape, swap: bool) -> str:
    """Name an operand of shape `target` in source order, with its last axes swapped if `swap`."""
    name = node.input(side)
    if name in net.known:
        shape = (*target[:-2], target[-1], target[-2]) if swap else target

        def stored(array: np.ndarray) -> np.ndarray:
            matrices = array.reshape(target)
            return matrices.swapaxes(-1, -2) if swap else matrices

        return net.constant(name, f"matrix {side} {swap}", shape, stored)
    name = net.source_order(name)
    if net.source_shape(name) != target:
        name = net.shaped(name, f"{node.name}.operand{side}", target)
    if swap:
        label, rank = f"{node.name}.turned{side}", len(target)
        permutation = (*range(rank - 2), rank - 1, rank - 2)
        name = net.put(Permute, label, [name], identity(rank), permutation=permutation)
    return name


def _as_stored(net: Importer, name: str) -> tuple[str, bool]:
    """Return the tensor whose transpose is `name`, and True; or `name` and False.

    A kernel reads the right side equally well by rows or by columns.
    """
    writer = net.producer(name)
    rank = len(net.source_shape(name))
    swap = (*range(rank - 2), rank - 1, rank - 2)
    if isinstance(writer, Permute) and writer.permutation == swap:
        (source,) = writer.inputs
        if net.order(source) == net.order(name) == identity(rank):
            return source, True
    return name, False


def _sum_with(node: OnnxNode, net: Importer, product_name: str, beta: float) -> None:
    """Add the third input of a Gemm, times `beta`, to its product."""
    name = node.input(2)
    if beta != 1.0:
        known = net.array(name)
        name = net.derived(known.name, f"times {beta}", lambda array: array * np.float32(beta))
    inputs = (product_name, net.operand(name, identity(2)))
    net.put(Elementwise, f"{node.name}.sum", inputs, identity(2), node.output, kind="sum")


TRANSLATORS = {"Gemm": gemm, "MatMul": matmul}
