"""Counts the work of an ONNX operator, which decides the time of an opaque node on the CPU.

Convolutions, matrix products, recurrent cells and attention count multiply-accumulates, all other
operators count operations on elements; both follow from shapes and attributes. Every standard
operator is in a family; the operations per element are assumed, to the order of magnitude. Bytes
follow from the shapes of a call, but of a table only the picked elements are read.

Not counted: the bodies of control flow, and the number of boxes or strings that results.
"""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import OnnxNode
from hexsim.records import dataclass

_FUNCTION = 10
"""Operations of a function such as exp: a polynomial of degree about ten (assumed)."""
_NORMALISED = 5
"""Operations per normalised element: two sums, a difference, two products (assumed)."""
_INTERPOLATED = 8
"""Operations per bilinearly interpolated element: products, sums, the position (assumed)."""
_BOX = 10
"""Operations to compute the overlap of two boxes (assumed)."""


@dataclass(frozen=True)
class OperatorWork:
    """Multiply-accumulates, operations on elements, and elements that are read (0 means all)."""

    macs: int = 0
    operations: int = 0
    picks: int = 0


Inputs = Sequence[Shape | None]
"""Shapes by position, None where the node omits an optional input."""
Rule = Callable[[OnnxNode, Inputs, Sequence[Shape]], OperatorWork]


def operator_work(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Return the work of a node; an unknown operator counts one operation per element it touches.

    A fused operator of onnxruntime counts as the operator without its activation.
    """
    rule = RULES.get(node.standard.removeprefix("Fused"), _touched)
    return rule(node, inputs, outputs)


def assumption(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> str:
    """Return a note on the assumption for a node whose work depends on values, else ""."""
    if node.standard != "NonMaxSuppression":
        return ""
    classes, _ = _classes_and_boxes(inputs)
    return (
        f"node '{node.name}' (NonMaxSuppression) is timed for the most it may keep, "
        f"{_most_kept(inputs, outputs)} boxes of each of {classes} classes, none of them "
        "suppressed; the score threshold may leave fewer"
    )


def ignores_layout(node: OnnxNode, inputs: Inputs) -> bool:
    """True if the node computes every element alike, whatever the axis order.

    Operands are broadcast; parameters that are not must be scalars.
    """
    if node.standard in _PARAMETRIC:
        return all(math.prod(shape) == 1 for shape in inputs[1:] if shape is not None)
    return not node.domain and node.standard in _BROADCAST


def _elements(shapes: Sequence[Shape | None]) -> int:
    return sum(math.prod(shape) for shape in shapes if shape is not None)


def _at(inputs: Inputs, position: int) -> Shape:
    shape = inputs[position] if position < len(inputs) else ()
    return shape or ()


def _touched(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    return OperatorWork(operations=_elements(inputs) + _elements(outputs))


def _written(times: int) -> Rule:
    """Count `times` operations for every element of the outputs."""
    return lambda node, inputs, outputs: OperatorWork(operations=times * _elements(outputs))


def _read(times: int) -> Rule:
    """Count `times` operations for every element of the first input."""
    return lambda node, inputs, outputs: OperatorWork(operations=times * _elements(inputs[:1]))


def _picked(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count the elements that are written, and as reads those and the positions."""
    written_elements = _elements(outputs)
    return OperatorWork(operations=written_elements, picks=written_elements + _elements(inputs[1:]))


def _sort(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count n log2 n along the axis, or of all elements."""
    data = _at(inputs, 0)
    axis = node.integer("axis", -1)
    length = data[axis] if -len(data) <= axis < len(data) else math.prod(data)
    return OperatorWork(operations=math.prod(data) * max(1, math.ceil(math.log2(max(2, length)))))


def _spectrum(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count a fast Fourier transform: 5 log2(length) operations per number."""
    numbers = _elements(outputs)
    return OperatorWork(
        operations=5 * numbers * max(1, math.ceil(math.log2(max(2, *_at(inputs, 0), 2))))
    )


def _window(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    return OperatorWork(
        operations=_elements(outputs[:1]) * math.prod(node.integers("kernel_shape") or (1,))
    )


def _regions(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count the samples of each element of a region: those of `sampling_ratio`, or four."""
    samples = max(node.integer("sampling_ratio", 0), 0) ** 2 or 4
    return OperatorWork(operations=_elements(outputs) * samples * _INTERPOLATED)


def _boxes(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count sorting the scores of each class, and comparing each pair of boxes that it may keep.

    The search ends when a class has its largest number of boxes. The numbers of boxes with a low
    score and of suppressed ones are not known.
    """
    classes, boxes = _classes_and_boxes(inputs)
    most = _most_kept(inputs, outputs)
    work = boxes * max(1, math.ceil(math.log2(max(2, boxes)))) + _BOX * most * (most - 1) // 2
    return OperatorWork(operations=classes * work)


def _classes_and_boxes(inputs: Inputs) -> tuple[int, int]:
    """Return the number of classes of all images of the batch, and of boxes of each."""
    *classes, boxes = _at(inputs, 1) or (1,)
    return math.prod(classes), boxes


def _most_kept(inputs: Inputs, outputs: Sequence[Shape]) -> int:
    """Return the number of boxes that each class may keep; the output has a row for each."""
    classes, boxes = _classes_and_boxes(inputs)
    rows = _at(outputs, 0)[0] if _at(outputs, 0) else 0
    return min(boxes, -(-rows // max(1, classes)))


def _determinant(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    *_, size = _at(inputs, 0) or (1,)
    return OperatorWork(macs=_elements(outputs) * size**3 // 3)


def _convolution(weight: int) -> Rule:
    """Count the products of a filter for every output; the weight is input number `weight`."""
    return lambda node, inputs, outputs: OperatorWork(
        macs=_elements(outputs[:1]) * math.prod(_at(inputs, weight)[1:])
    )


def _transposed(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count the products of every input with the filters of its channel."""
    return OperatorWork(macs=_elements(inputs[:1]) * math.prod(_at(inputs, 1)[1:]))


def _product(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    *_, depth = _at(inputs, 0) or (1,)
    return OperatorWork(macs=_elements(outputs[:1]) * depth)


def _gemm(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    rows = _at(outputs, 0)[0] if outputs and outputs[0] else 1
    return OperatorWork(macs=_elements(outputs[:1]) * _elements(inputs[:1]) // max(1, rows))


def _einsum(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count one product per combination of all labels; the axes of dots count as one."""
    terms = node.text("equation", "").replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, int] = {}
    dots = 1
    for term, shape in zip(terms, inputs, strict=False):
        before, _, behind = term.partition("...")
        axes = shape or ()
        pairs = [*zip(before, axes, strict=False)]
        if "..." in term:
            pairs += zip(behind, axes[len(axes) - len(behind) :], strict=False)
            dots = max(dots, math.prod(axes[len(before) : len(axes) - len(behind)]))
        sizes.update(pairs)
    return OperatorWork(macs=dots * math.prod(sizes.values()))


def _recurrent(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count the products of every step with all weights, and its gates as functions."""
    *steps, _ = _at(inputs, 0) or (1,)
    weights, recurrence = _at(inputs, 1), _at(inputs, 2)
    gates = math.prod(weights[:-1])
    times = math.prod(steps)
    macs = times * (math.prod(weights) + math.prod(recurrence))
    return OperatorWork(macs, times * gates * _FUNCTION)


def _attention(node: OnnxNode, inputs: Inputs, outputs: Sequence[Shape]) -> OperatorWork:
    """Count queries times keys, a Softmax, and its result times values.

    The second output, if there is one, has the keys of the past, too. Attention of onnxruntime
    multiplies its input by the weights of queries, keys and values first.
    """
    query, key = _at(inputs, 0), _at(inputs, 1)
    length, projected = key[-2] if len(key) > 1 else 1, 0
    if node.op_type == "com.microsoft.Attention":
        length, projected = query[-2] if len(query) > 1 else 1, math.prod(query) * (key or (1,))[-1]
    present = outputs[1] if len(outputs) > 1 else ()
    if len(present) > _PRESENT_RANK - 1:
        length = present[-2]
    scores = math.prod(query) * length
    softmax = scores // max(1, query[-1] if query else 1) * _FUNCTION
    return OperatorWork(projected + 2 * scores, softmax)


_PRESENT_RANK = 4
"""Axes of keys that attention returns, at least; the last two are tokens and numbers of a head."""
_BY_NAME: Mapping[str, Rule] = {
    "attention": _attention,
    "boxes": _boxes,
    "convolution": _convolution(1),
    "determinant": _determinant,
    "einsum": _einsum,
    "element": _written(1),
    "function": _written(_FUNCTION),
    "gemm": _gemm,
    "interpolated": _written(_INTERPOLATED),
    "normalised": _read(_NORMALISED),
    "nothing": _written(0),
    "picked": _picked,
    "product": _product,
    "quantised_convolution": _convolution(3),
    "read_element": _read(1),
    "read_function": _read(_FUNCTION),
    "recurrent": _recurrent,
    "regions": _regions,
    "sort": _sort,
    "spectrum": _spectrum,
    "touched": _touched,
    "transposed_convolution": _transposed,
    "window": _window,
}
_FAMILIES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
RULES: Mapping[str, Rule] = {
    operator: _BY_NAME[name]
    for families in _FAMILIES.values()
    for name, operators in families.items()
    for operator in operators.split()
}
"""The rules by operator of the standard domain."""
_BROADCAST = frozenset(" ".join(_FAMILIES["broadcast"].values()).split())
_PARAMETRIC = frozenset({"Clip", "DequantizeLinear", "QuantizeLinear"})
"""Elementwise operators with parameters that are not broadcast."""
