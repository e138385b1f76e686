"""Expands Einsum into transposes, sums, and matrix or elementwise products.

1. An operand with a repeated label becomes its diagonal: every (n + 1)th of n x n elements.
2. Operands are multiplied from left to right. A label of one of two operands that is not needed
   later is summed before.
3. A product of two terms with the same labels is elementwise, and summed. Any other one that
   sums over a label is a MatMul. Labels of both operands that are needed are its batch; a constant
   matrix is on the right, where it becomes the weight of a fully connected layer, and has no batch
   of size one.
4. Any other product is elementwise.

Not supported: operands that are not float32.

Parses equations of Einsum into the labels of its operands and its result.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import onnx

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode
from hexsim.onnx_io.read.expansions._parts import ExpansionNodes
from hexsim.onnx_io.read.importer import Importer
from hexsim.records import dataclass

Labels = tuple[str, ...]
_DOTS = "..."


@dataclass(frozen=True)
class Equation:
    """Labels of the axes of each operand and of the result.

    The axes of an ellipsis are labelled `...1`, `...2` and so on, counted from the last one, so
    that equal labels are broadcast against each other.
    """

    terms: tuple[Labels, ...]
    result: Labels


def parsed(text: str, ranks: Sequence[int]) -> Equation:
    """Read the equation `text` for operands with `ranks` axes.

    Without an arrow the result has the axes of an ellipsis, then the labels that occur once, in
    alphabetical order. Raises InvalidDataError if the equation is malformed or does not fit.
    """
    operands, arrow, result_text = text.replace(" ", "").partition("->")
    parts = operands.split(",")
    if len(parts) != len(ranks):
        raise InvalidDataError(f"equation '{text}' is for {len(parts)} operands, not {len(ranks)}")
    terms = tuple(_labels(term, rank, text) for term, rank in zip(parts, ranks, strict=True))
    of_dots = [tuple(label for label in term if label.startswith(_DOTS)) for term in terms]
    dotted = max(of_dots, key=len)
    if arrow:
        _require_labels(result_text, text)
        result = _with_dots(result_text, dotted)
    else:
        counts = Counter(operands.replace(",", "").replace(".", ""))
        result = (*dotted, *sorted(label for label, count in counts.items() if count == 1))
    unknown = set(result).difference(*terms)
    if unknown or len(set(result)) < len(result):
        raise InvalidDataError(
            f"the result of equation '{text}' repeats a label, or has one of its own"
        )
    return Equation(terms, result)


def sizes_of(terms: Sequence[Labels], shapes: Sequence[Shape]) -> Mapping[str, int]:
    """Return the size of each label; an axis of size one is repeated where another is longer.

    Raises InvalidDataError where sizes contradict each other.
    """
    sizes: dict[str, int] = {}
    for labels, shape in zip(terms, shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            if sizes.setdefault(label, size) == 1:
                sizes[label] = size
            if size not in (1, sizes[label]):
                raise InvalidDataError(
                    f"label '{label}' is of size {sizes[label]} and of size {size}"
                )
    return sizes


def _labels(term: str, rank: int, text: str) -> Labels:
    _require_labels(term, text)
    letters = len(term.replace(_DOTS, ""))
    if letters > rank or (_DOTS not in term and letters < rank):
        raise InvalidDataError(f"'{term}' of equation '{text}' is no operand of {rank} axes")
    count = rank - letters
    return _with_dots(term, tuple(f"{_DOTS}{place}" for place in range(count, 0, -1)))


def _with_dots(term: str, dotted: Labels) -> Labels:
    labels_before, dots, labels_behind = term.partition(_DOTS)
    return (*labels_before, *(dotted if dots else ()), *labels_behind)


def _require_labels(term: str, text: str) -> None:
    letters = term.replace(_DOTS, "", 1)
    if letters and not (letters.isascii() and letters.isalpha()):
        raise InvalidDataError(
            f"equation '{text}' has something else than letters, commas and dots"
        )


_AXES = 4
"""Most axes of a product; if there are more, they are merged."""


@dataclass(frozen=True)
class _Term:
    """A tensor, the labels of its axes, and whether it is a known array."""

    name: str
    labels: Labels
    known: bool


def einsum(node: OnnxNode, net: Importer) -> Sequence[onnx.NodeProto]:
    """Multiply all operands, and transpose the result to the order of the equation."""
    if any(net.dtype(name) != "float32" for name in node.inputs):
        raise NotALayerError("not float32")
    shapes = [net.source_shape(name) for name in node.inputs]
    equation = parsed(node.text("equation", ""), [len(shape) for shape in shapes])
    products = _Products(node, sizes_of(equation.terms, shapes), equation.result)
    terms = [
        products.operand(_Term(name, labels, name in net.known), shape)
        for name, labels, shape in zip(node.inputs, equation.terms, shapes, strict=True)
    ]
    result, *remaining = terms
    while remaining:
        operand, *remaining = remaining
        later = {label for term in remaining for label in term.labels}
        result = products.product(result, operand, later | set(equation.result))
    return products.finish(result)


class _Products:
    """The nodes of one Einsum; every term has the size of each of its labels."""

    def __init__(self, node: OnnxNode, sizes: Mapping[str, int], result: Labels) -> None:
        self._parts = ExpansionNodes(node)
        self._sizes = sizes
        self._result = result

    def operand(self, term: _Term, shape: Shape) -> _Term:
        """Take diagonals, and remove axes of size one that are broadcast against longer ones."""
        for label in dict.fromkeys(term.labels):
            while term.labels.count(label) > 1:
                term, shape = self._diagonal(term, shape, label)
        axes = [axis for axis, label in enumerate(term.labels) if shape[axis] == self._sizes[label]]
        if len(axes) == len(shape):
            return term
        name = self._parts.reshape(term.name, tuple(shape[axis] for axis in axes))
        return _Term(name, tuple(term.labels[axis] for axis in axes), term.known)

    def product(self, first: _Term, second: _Term, needed: set[str]) -> _Term:
        """Multiply two terms and sum over the labels that are not `needed`."""
        first = self._summed(first, needed.union(second.labels))
        second = self._summed(second, needed.union(first.labels))
        first, second = self._without_ones(first, second), self._without_ones(second, first)
        if all(label in needed for label in first.labels if label in second.labels):
            return self._of_elements(first, second)
        if set(first.labels) == set(second.labels):
            return self._summed(self._of_elements(first, second), needed)
        return self._of_matrices(first, second, needed)

    def _without_ones(self, term: _Term, other: _Term) -> _Term:
        """Remove axes of size one of a constant that the other operand has too."""
        if not term.known or other.known:
            return term
        labels = tuple(n for n in term.labels if self._sizes[n] != 1 or n not in other.labels)
        if labels == term.labels:
            return term
        return _Term(self._parts.reshape(term.name, self._shape(labels)), labels, True)

    def finish(self, term: _Term) -> Sequence[onnx.NodeProto]:
        """Sum and transpose the last term, and return all nodes."""
        name = self._in_order(self._summed(term, set(self._result)), self._result)
        if not any(name in node.output for node in self._parts.nodes):
            name = self._parts.add("Identity", [name])
        return self._parts.finish(name)

    def _of_matrices(self, first: _Term, second: _Term, needed: set[str]) -> _Term:
        shared = [label for label in first.labels if label in second.labels]
        batch = self._sorted(label for label in shared if label in needed)
        rows = self._sorted(label for label in first.labels if label not in shared)
        columns = self._sorted(label for label in second.labels if label not in shared)
        swaps = first.known and not second.known
        if not first.known and not second.known:
            swaps = (*batch, *columns, *rows) == self._result != (*batch, *rows, *columns)
        if swaps:
            first, second, rows, columns = second, first, columns, rows
        inner = tuple(label for label in first.labels if label in shared and label not in needed)
        groups = self._shape(batch) if len(batch) <= _AXES - 2 else (self._count(batch),)
        height, depth, width = (self._count(labels) for labels in (rows, inner, columns))
        left_name = self._in_order(first, (*batch, *rows, *inner))
        right_name = self._in_order(second, (*batch, *inner, *columns))
        left_name = self._to_shape(left_name, (*batch, *rows, *inner), (*groups, height, depth))
        right_name = self._to_shape(right_name, (*batch, *inner, *columns), (*groups, depth, width))
        result = self._parts.add("MatMul", [left_name, right_name])
        labels = (*batch, *rows, *columns)
        if (*groups, height, width) != self._shape(labels):
            result = self._parts.reshape(result, self._shape(labels))
        return _Term(result, labels, first.known)

    def _of_elements(self, first: _Term, second: _Term) -> _Term:
        """Multiply elementwise; if there are many axes, neighbours of the same operands merge."""
        labels = self._sorted({*first.labels, *second.labels})
        runs = [[label] for label in labels]
        if len(runs) > _AXES:
            runs = []
            for label in labels:
                owners = [label in term.labels for term in (first, second)]
                if runs and owners == [runs[-1][-1] in term.labels for term in (first, second)]:
                    runs[-1].append(label)
                else:
                    runs.append([label])
        operands = []
        for term in (first, second):
            axes = tuple(label for label in labels if label in term.labels)
            sizes = [self._count(run) if run[0] in axes else 1 for run in runs]
            while len(sizes) > 1 and sizes[0] == 1 and runs[len(runs) - len(sizes)][0] not in axes:
                del sizes[0]  # leading axes are broadcast without being there
            operands.append(self._to_shape(self._in_order(term, axes), axes, tuple(sizes)))
        result = self._parts.add("Mul", operands)
        if len(runs) < len(labels):
            result = self._parts.reshape(result, self._shape(labels))
        return _Term(result, labels, first.known and second.known)

    def _summed(self, term: _Term, needed: set[str]) -> _Term:
        axes = [axis for axis, label in enumerate(term.labels) if label not in needed]
        if not axes:
            return term
        name = self._parts.sum(term.name, axes)
        return _Term(name, tuple(label for label in term.labels if label in needed), term.known)

    def _diagonal(self, term: _Term, shape: Shape, label: str) -> tuple[_Term, Shape]:
        """Return the diagonal of the first two axes with `label`, moved last, and its shape."""
        pair = [axis for axis, name in enumerate(term.labels) if name == label][:2]
        size = shape[pair[0]]
        if shape[pair[1]] != size:
            raise InvalidDataError(
                f"label '{label}' is of size {size} and of size {shape[pair[1]]}"
            )
        other_axes = [axis for axis in range(len(shape)) if axis not in pair]
        name = term.name
        if [*other_axes, *pair] != list(range(len(shape))):
            name = self._parts.add("Transpose", [name], perm=[*other_axes, *pair])
        other_sizes = tuple(shape[axis] for axis in other_axes)
        name = self._parts.reshape(name, (*other_sizes, size * size))
        bounds = ([0], [size * size], [len(other_axes)], [size + 1])
        bound_names = [self._parts.constant(numbers, "int64") for numbers in bounds]
        name = self._parts.add("Slice", [name, *bound_names])
        labels = (*(term.labels[axis] for axis in other_axes), label)
        return _Term(name, labels, term.known), (*other_sizes, size)

    def _in_order(self, term: _Term, labels: Labels) -> str:
        if term.labels == labels:
            return term.name
        order = [term.labels.index(label) for label in labels]
        return self._parts.add("Transpose", [term.name], perm=order)

    def _to_shape(self, name: str, labels: Labels, shape: Shape) -> str:
        return name if shape == self._shape(labels) else self._parts.reshape(name, shape)

    def _sorted(self, labels: Iterable[str]) -> Labels:
        """Return labels in the order of the result, followed by those that it lacks."""
        places = {label: place for place, label in enumerate(self._result)}
        return tuple(sorted(labels, key=lambda label: (places.get(label, len(places)), label)))

    def _shape(self, labels: Sequence[str]) -> Shape:
        return tuple(self._sizes[label] for label in labels)

    def _count(self, labels: Sequence[str]) -> int:
        return math.prod(self._shape(labels))


SHAPED = {"Einsum": einsum}
