"""MatMul and Gemm whose right side is not a constant matrix of weights."""

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import Elementwise, MatMul, Permute
from hexsim.onnx_io.file.axis_order import identity
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.importer import Importer


def product(
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
    left = matrix_operand(net, node, 0, padded[0], swaps[0])
    right, transposed = _as_stored(net, names[1]) if not swaps[1] else (names[1], True)
    if right == names[1]:
        right = matrix_operand(net, node, 1, padded[1], swap=False)
    are_matrices = padded == shapes
    result = output if are_matrices else net.unique(f"{node.name}.result")
    layer = MatMul(
        name=node.name,
        inputs=(left, right),
        outputs=(result,),
        transposed=transposed,
        alpha=alpha,
    )
    net.add(layer, identity(max(map(len, padded))))
    if not are_matrices:
        added_axes = [side - 2 for side in (0, 1) if padded[side] != shapes[side]]
        sizes = net.source_shape(result)
        target = tuple(n for axis, n in enumerate(sizes) if axis - len(sizes) not in added_axes)
        net.reshape(net.unique(f"{node.name}.shape"), result, target, output)


def matrix_operand(net: Importer, node: OnnxNode, side: int, target: Shape, swap: bool) -> str:
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
        label = net.unique(f"{node.name}.operand{side}")
        net.reshape(label, name, target, label)
        name = label
    if swap:
        label = net.unique(f"{node.name}.turned{side}")
        permutation = (*range(len(target) - 2), len(target) - 1, len(target) - 2)
        layer = Permute(name=label, inputs=(name,), outputs=(label,), permutation=permutation)
        net.add(layer, identity(len(target)))
        name = label
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


def sum_with(node: OnnxNode, net: Importer, product_name: str, beta: float) -> None:
    """Add the third input of a Gemm, times `beta`, to its product."""
    name = node.input(2)
    if beta != 1.0:
        known = net.array(name)
        name = net.derived(known.name, f"times {beta}", lambda array: array * np.float32(beta))
    inputs = (product_name, net.operand(name, identity(2)))
    layer = Elementwise(
        name=net.unique(f"{node.name}.sum"), inputs=inputs, outputs=(node.output,), kind="sum"
    )
    net.add(layer, identity(2))
