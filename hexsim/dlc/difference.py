"""The differences of two networks, layer by layer; layers match by name and type."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from hexsim.display import Cell, DisplayTable, Shown
from hexsim.dlc.inspection import LayerInfo, constants_by_role, inspect
from hexsim.graph.ir import Constant, Network
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class PropertyChange:
    """A property of a layer with its values in both networks; None where a network lacks it."""

    layer: str
    what: str
    first: object
    second: object


def _value_texts(change: PropertyChange) -> tuple[Cell, Cell]:
    """Return the values of both networks as text; None where a network lacks it."""
    first, second = (
        None if value is None else f"{value}" for value in (change.first, change.second)
    )
    return first, second


@dataclass(frozen=True)
class WeightChange:
    """A constant whose float values differ: the largest difference, and the number of elements.

    If shapes differ, the difference is infinite and affects all elements.
    """

    layer: str
    role: str
    largest: float
    count: int
    elements: int


@dataclass(frozen=True, repr=False)
class Difference(Shown):
    """Everything in which two networks differ.

    `parameters` are attributes, encodings and counts, `dims` the shapes of outputs, `outputs`
    the names of outputs, `sections` the HTA sections or prepared graphs of one chip, named by that
    chip.
    """

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    parameters: tuple[PropertyChange, ...]
    dims: tuple[PropertyChange, ...]
    weights: tuple[WeightChange, ...]
    outputs: tuple[PropertyChange, ...]
    sections: tuple[PropertyChange, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any difference."""
        return any(vars(self).values())

    def display_table(self) -> DisplayTable:
        """Return a row for each difference, in the order of the kinds."""
        rows: list[tuple[Cell, ...]] = [
            (name, "only in the first", None, None) for name in self.only_first
        ]
        rows += [(name, "only in the second", None, None) for name in self.only_second]
        rows += [
            (parameter.layer, parameter.what, *_value_texts(parameter))
            for parameter in (*self.parameters, *self.dims)
        ]
        rows += [
            (
                weight.layer,
                weight.role,
                None,
                f"{weight.count} of {weight.elements} differ, by {weight.largest:.6g}",
            )
            for weight in self.weights
        ]
        rows += [
            (output.layer, output.what, *_value_texts(output))
            for output in (*self.outputs, *self.sections)
        ]
        title = f"{len(rows)} differences" if rows else "no difference"
        return DisplayTable(title, ("layer", "what", "first", "second"), tuple(rows))

    def of(self, kinds: Collection[str]) -> Difference:
        """Return only the differences of the given `KINDS`."""
        dropped = (name for kind, names in KINDS.items() if kind not in kinds for name in names)
        return replace(self, **dict.fromkeys(dropped, ()))


KINDS = {
    "layers": ("only_first", "only_second"),
    "parameters": ("parameters",),
    "dims": ("dims",),
    "weights": ("weights",),
    "outputs": ("outputs",),
    "sections": ("sections",),
}
"""Kinds of difference, and the fields of each."""


def difference(first: Model, second: Model) -> Difference:
    """Compare two networks; reads the weights of the layers that both have."""
    rows = {(row.type, row.name): row for row in inspect(first)}
    others = {(row.type, row.name): row for row in inspect(second)}
    pairs = [(row, others[key]) for key, row in rows.items() if key in others]
    return Difference(
        only_first=tuple(row.name for key, row in rows.items() if key not in others),
        only_second=tuple(row.name for key, row in others.items() if key not in rows),
        parameters=tuple(change for row, other in pairs for change in _parameters(row, other)),
        dims=tuple(
            PropertyChange(row.name, "dims", row.shapes, other.shapes)
            for row, other in pairs
            if row.shapes != other.shapes
        ),
        weights=tuple(_weights(first.as_stored, second.as_stored)),
        outputs=tuple(
            PropertyChange(row.name, "outputs", row.outputs, other.outputs)
            for row, other in pairs
            if row.outputs != other.outputs
        ),
        sections=tuple(_sections(first, second)),
    )


def _parameters(row: LayerInfo, other: LayerInfo) -> Iterator[PropertyChange]:
    first, second = _properties(row), _properties(other)
    for name in dict.fromkeys((*first, *second)):
        if first.get(name) != second.get(name):
            yield PropertyChange(row.name, name, first.get(name), second.get(name))


def _properties(row: LayerInfo) -> dict[str, object]:
    encodings = {f"{role} encoding": encoding for role, encoding in row.encodings.items()}
    floats = {f"{role} encoding": kind for role, kind in row.floats.items()}
    return {
        **row.attributes,
        **encodings,
        **floats,
        "param count": row.param_count,
        "MACs per inference": row.macs,
    }


def _sections(first: Model, second: Model) -> Iterator[PropertyChange]:
    kinds = {"HTA sections": _sections_by_chip, "prepared graphs": _graphs_by_chip}
    for what, by_chip in kinds.items():
        first_chips, second_chips = by_chip(first), by_chip(second)
        for chip in dict.fromkeys((*first_chips, *second_chips)):
            if first_chips.get(chip) != second_chips.get(chip):
                yield PropertyChange(chip, what, first_chips.get(chip), second_chips.get(chip))


def _graphs_by_chip(model: Model) -> dict[str, tuple[str, ...]]:
    """Return the platforms of prepared graphs, by chip."""
    graphs: dict[str, tuple[str, ...]] = {}
    for graph in model.graphs:
        graphs[graph.chip] = (*graphs.get(graph.chip, ()), str(graph))
    return graphs


def _sections_by_chip(model: Model) -> dict[str, tuple[str, ...]]:
    """Return the first and last layer of each section, by chip."""
    sections: dict[str, tuple[str, ...]] = {}
    for section in model.hta if model.quantized else ():
        layers = f"{section.layers[0]} to {section.layers[-1]}"
        sections[section.chip] = (*sections.get(section.chip, ()), layers)
    return sections


def _weights(first: Network, second: Network) -> Iterator[WeightChange]:
    others = {(layer.type, layer.name): layer for layer in second.layers}
    for layer in first.layers:
        other = others.get((layer.type, layer.name))
        if other is None:
            continue
        names = constants_by_role(other, second)
        for role, name in constants_by_role(layer, first).items():
            if role in names:
                change = _compare(first.constants[name], second.constants[names[role]])
                if change[1]:
                    yield WeightChange(layer.name, role, *change)


def _compare(first: Constant, second: Constant) -> tuple[float, int, int]:
    """Return the largest difference, the number of values that differ, and that of all values."""
    if first.shape != second.shape:
        return np.inf, first.elements, first.elements
    error = np.abs(first.value().astype(np.float64) - second.value().astype(np.float64))
    return float(error.max(initial=0.0)), int(np.count_nonzero(error)), first.elements
