"""What two models differ in, as a table and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hexsim.dlc.difference import Difference, PropertyChange
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.reports.network.info import dims, encoding_text
from hexsim.reports.text import table
from hexsim.texts.csv_text import csv_text
from hexsim.texts.figures import figure


def diff_table(first: str, second: str, difference: Difference) -> str:
    """Return the tables that have lines, or a sentence if there is no difference."""
    if not difference:
        return f"{first} and {second} do not differ"
    return "\n\n".join(
        f"{section.title}\n{_all_left(section)}"
        for section in sections(first, second, difference)
        if section.rows
    )


def _all_left(section: Section) -> str:
    return table(section.header, section.rows, left=frozenset(range(len(section.header))))


class Section(NamedTuple):
    """All differences of one kind."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def sections(first: str, second: str, difference: Difference) -> tuple[Section, ...]:
    """Return every kind, those without rows included."""
    only: list[tuple[str, ...]] = [(name, first) for name in difference.only_first]
    only += [(name, second) for name in difference.only_second]
    weights: list[tuple[str, ...]] = [
        (weight.layer, weight.role, figure(weight.largest), f"{weight.count} of {weight.elements}")
        for weight in difference.weights
    ]
    change_header = ("layer", "what", first, second)
    weight_header = ("layer", "what", "largest difference", "values that differ")
    return (
        Section("Unique layers", ("layer", "only in"), only),
        Section("Parameters", change_header, _rows(difference.parameters)),
        Section("Dimensions", change_header, _rows(difference.dims)),
        Section("Weights", weight_header, weights),
        Section("Output names", change_header, _rows(difference.outputs)),
        Section(
            "HTA sections and prepared graphs",
            ("chip", *change_header[1:]),
            _rows(difference.sections),
        ),
    )


def _rows(changes: Sequence[PropertyChange]) -> list[tuple[str, ...]]:
    return [
        (change.layer, change.what, _text(change.first), _text(change.second)) for change in changes
    ]


def _text(value: object) -> str:
    if isinstance(value, Encoding | AxisEncoding):
        return encoding_text(value)
    if isinstance(value, tuple):
        return ", ".join(dims(item) if isinstance(item, tuple) else str(item) for item in value)
    return "-" if value is None else str(value)


def diff_csv(first: str, second: str, difference: Difference) -> str:
    """Return the differences as CSV text.

    The columns are the layer (or chip), the property, and its values in both models. For weights
    these are the largest difference and the number of values that differ. For a layer that only
    one model has, `what` names that model.
    """
    rows = (
        (section.title, *row, *[""] * (4 - len(row)))
        for section in sections(first, second, difference)
        for row in section.rows
    )
    return csv_text(("difference", "layer", "what", "first", "second"), rows)
