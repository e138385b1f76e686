"""Operators that move or rename elements without computing: Reshape, Transpose, Concat, Shape.

DepthToSpace and SpaceToDepth of images.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.layers import Concat, DepthToSpace, Permute, SpaceToDepth
from hexsim.layers.rearrangement import BlockMode
from hexsim.onnx_io.file.axis_order import channels_last, transposed
from hexsim.onnx_io.file.known import Known, dtype_name
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode, positive_axis
from hexsim.onnx_io.read.importer import Importer
from hexsim.onnx_io.read.operators.elementwise import common_order


def identity(node: OnnxNode, net: Importer) -> None:
    """Identity, and Dropout whose mask is not read, become a Reshape to the same shape."""
    if any(net.facts.uses[name] for name in node.outputs[1:]):
        raise NotALayerError("the mask is used")
    if node.input(2) and (node.input(2) not in net.known or net.array(node.input(2)).read().any()):
        raise NotALayerError("in training, it drops elements at random")
    data = net.tensor(node.input(0))
    _reshape(node, net, data.source_shape)


def cast(node: OnnxNode, net: Importer) -> None:
    """A Cast to the type that the tensor has already is an identity."""
    data = net.tensor(node.input(0))
    if dtype_name(node.integer("to", 0), node.output) != data.dtype:
        raise NotALayerError("changes the type")
    _reshape(node, net, data.source_shape)


def reshape(node: OnnxNode, net: Importer) -> None:
    """Reshape to a constant shape; a zero copies a size, one -1 is computed."""
    source = net.tensor(node.input(0)).source_shape
    target = [*net.sizes(node.input(1))]
    if not node.integer("allowzero", 0):
        if 0 in target[len(source) :]:
            raise InvalidDataError(f"cannot reshape {list(source)} to {target}")
        target = [source[axis] if size == 0 else size for axis, size in enumerate(target)]
    if -1 in target:
        known_size = math.prod(size for size in target if size != -1)
        if target.count(-1) > 1 or not known_size or math.prod(source) % known_size:
            raise InvalidDataError(f"cannot reshape {list(source)} to {target}")
        target[target.index(-1)] = math.prod(source) // known_size
    _reshape(node, net, tuple(target))


def flatten(node: OnnxNode, net: Importer) -> None:
    """Flatten to two axes."""
    source = net.tensor(node.input(0)).source_shape
    axis = node.integer("axis", 1)
    axis = axis if axis == len(source) else positive_axis(axis, len(source))
    _reshape(node, net, (math.prod(source[:axis]), math.prod(source[axis:])))


def squeeze(node: OnnxNode, net: Importer) -> None:
    """Squeeze; axes are an attribute before opset 13, an input since."""
    source = net.tensor(node.input(0)).source_shape
    axes = net.integers(node, "axes", 1)
    dropped_axes = (
        {axis for axis, size in enumerate(source) if size == 1}
        if axes is None
        else {positive_axis(axis, len(source)) for axis in axes}
    )
    if any(source[axis] != 1 for axis in dropped_axes):
        raise InvalidDataError(f"cannot squeeze the axes {sorted(dropped_axes)} of {list(source)}")
    _reshape(node, net, tuple(size for axis, size in enumerate(source) if axis not in dropped_axes))


def unsqueeze(node: OnnxNode, net: Importer) -> None:
    """Unsqueeze; axes are an attribute before opset 13, an input since."""
    sizes = iter(net.tensor(node.input(0)).source_shape)
    axes = net.integers(node, "axes", 1) or ()
    rank = len(net.source_shape(node.input(0))) + len(axes)
    new_axes = {positive_axis(axis, rank) for axis in axes}
    if len(new_axes) != len(axes):
        raise InvalidDataError(f"axes {list(axes)} name an axis twice")
    _reshape(node, net, tuple(1 if axis in new_axes else next(sizes) for axis in range(rank)))


def transpose(node: OnnxNode, net: Importer) -> None:
    """Transpose becomes a Permute of stored axes, which moves no data where possible."""
    data = net.tensor(node.input(0))
    rank = len(data.shape)
    permutation = node.integers("perm") or tuple(reversed(range(rank)))
    if sorted(permutation) != list(range(rank)):
        raise InvalidDataError(f"perm {list(permutation)} does not fit {rank} axes")
    order, stored = transposed(data.order, permutation)
    layer = Permute(*node.ends(data.name), permutation=stored)
    net.add(layer, order)


def concat(node: OnnxNode, net: Importer) -> None:
    """Concat; all inputs get the same stored order."""
    order = common_order(node.inputs, net)
    rank = len(order)
    axis = positive_axis(node.integer("axis", 1), rank)
    shapes = [net.source_shape(name) for name in node.inputs]
    if (
        len({len(shape) for shape in shapes}) > 1
        or len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) > 1
    ):
        listed = ", ".join(str(list(shape)) for shape in shapes)
        raise InvalidDataError(f"cannot join {listed} along axis {axis}")
    net.add(
        Concat(
            *node.ends(*tuple(net.operand(name, order) for name in node.inputs)),
            axis=order.index(axis),
        ),
        order,
    )


def shape_of(
    measure: Callable[[Shape, OnnxNode], np.ndarray],
) -> Callable[[OnnxNode, Importer], None]:
    """Shape and Size are known before the network runs."""

    def translate(node: OnnxNode, net: Importer) -> None:
        value = measure(net.source_shape(node.input(0)), node)
        net.known[node.output] = Known(node.output, value.shape, "int64", lambda: value)

    return translate


def _shape(source: Shape, node: OnnxNode) -> np.ndarray:
    end = node.integer("end", len(source))
    return np.array(source[node.integer("start", 0) : end], np.int64)


def _size(source: Shape, node: OnnxNode) -> np.ndarray:
    return np.array(math.prod(source), np.int64)


def _reshape(node: OnnxNode, net: Importer, target: Shape) -> None:
    net.reshape(node.name, node.input(0), target, node.output)


def _blocks(node: OnnxNode, net: Importer, layer: type[DepthToSpace] | type[SpaceToDepth]) -> None:
    """Translate either operator; before opset 11 there is one mode."""
    data = net.tensor(node.input(0), rank=4)
    net.add(
        layer(*node.ends(net.channels_last(data.name)), block=_block(node), mode=_mode(node)),
        channels_last(4),
    )


def _mode(node: OnnxNode) -> BlockMode:
    mode = node.text("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        raise InvalidDataError(f"attribute mode has the unknown value '{mode}'")
    return "CRD" if mode == "CRD" else "DCR"


def _block(node: OnnxNode) -> int:
    block = node.integer("blocksize", 1)
    if block < 1:
        raise InvalidDataError("blocksize must be at least 1")
    return block


TRANSLATORS = {
    "Cast": cast,
    "Concat": concat,
    "Dropout": identity,
    "Flatten": flatten,
    "Identity": identity,
    "Reshape": reshape,
    "Shape": shape_of(_shape),
    "Size": shape_of(_size),
    "Squeeze": squeeze,
    "Transpose": transpose,
    "Unsqueeze": unsqueeze,
    "DepthToSpace": partial(_blocks, layer=DepthToSpace),
    "SpaceToDepth": partial(_blocks, layer=SpaceToDepth),
}
