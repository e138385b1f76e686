"""Parses equations of Einsum into the labels of its operands and its result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Shape

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
    dotted = max((_dotted(labels) for labels in terms), key=len)
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


def _dotted(labels: Labels) -> Labels:
    return tuple(label for label in labels if label.startswith(_DOTS))


def _require_labels(term: str, text: str) -> None:
    letters = term.replace(_DOTS, "", 1)
    if letters and not (letters.isascii() and letters.isalpha()):
        raise InvalidDataError(
            f"equation '{text}' has something else than letters, commas and dots"
        )
