"""Upper bounds of shapes that depend on values.

NonMaxSuppression keeps at most the given number of boxes per class, and at most all of them;
NonZero, Unique and Compress keep at most everything; TopK and Slice with computed bounds at most a
whole axis.

Not supported: results without a bound, such as a Range up to a computed number.
"""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import OnnxNode, positive_axis
from hexsim.onnx_io.read.node_results import NodeInput

_Rule = Callable[[OnnxNode, Sequence[NodeInput | None]], Sequence[Shape]]


def most_elements(node: OnnxNode, operands: Mapping[str, NodeInput]) -> dict[str, Shape]:
    """Return the largest shape of each named output; nothing for operators without a bound."""
    rule = _RULES.get(node.op_type)
    if rule is None:
        return {}
    shapes = rule(node, [operands.get(name) for name in node.inputs])
    return {name: shape for name, shape in zip(node.outputs, shapes, strict=False) if name}


def _chosen_boxes(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    """Return the bound of NonMaxSuppression: rows of batch, class and box."""
    batches, classes, boxes = _shape(inputs, 1, 3)
    most = boxes
    if len(inputs) < 3 or inputs[2] is None:
        most = 0  # the standard's default
    elif (value := inputs[2].value) is not None:
        most = min(boxes, max(0, int(np.max(value, initial=0))))
    return [(batches * classes * most, 3)]


def _places(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    shape = _shape(inputs, 0)
    return [(len(shape), math.prod(shape))]


def _distinct(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    """Return the bounds of Unique: values, first positions, inverse indices, counts."""
    shape = _shape(inputs, 0)
    if not node.has("axis"):
        return [(math.prod(shape),)] * 4
    size = shape[positive_axis(node.integer("axis", 0), len(shape))]
    return [shape, *[(size,)] * 3]


def _compressed(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    shape, (flags,) = _shape(inputs, 0), _shape(inputs, 1, 1)
    if not node.has("axis"):
        return [(min(math.prod(shape), flags),)]
    axis = positive_axis(node.integer("axis", 0), len(shape))
    return [(*shape[:axis], min(shape[axis], flags), *shape[axis + 1 :])]


def _all_of_it(node: OnnxNode, inputs: Sequence[NodeInput | None]) -> Sequence[Shape]:
    return [_shape(inputs, 0)] * 2


def _shape(inputs: Sequence[NodeInput | None], position: int, rank: int | None = None) -> Shape:
    operand = inputs[position]
    assert operand is not None, "onnx has checked that it is there"
    if rank is not None and len(operand.shape) != rank:
        raise InvalidDataError(f"input {position} has {len(operand.shape)} axes, not {rank}")
    return operand.shape


_RULES: Mapping[str, _Rule] = {
    "Compress": _compressed,
    "NonMaxSuppression": _chosen_boxes,
    "NonZero": _places,
    "Slice": _all_of_it,
    "TopK": _all_of_it,
    "Unique": _distinct,
}
