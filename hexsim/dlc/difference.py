"""In what two networks differ, layer by layer; layers are the same if name and type are."""

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
    """One property of one layer, as each network has it; None where a network lacks it."""

    layer: str
    what: str
    first: object
    second: object


def _ends(change: PropertyChange) -> tuple[Cell, Cell]:
    """What both networks have, in words; None where one lacks it."""
    first, second = (None if x is None else f"{x}" for x in (change.first, change.second))
    return first, second


@dataclass(frozen=True)
class WeightChange:
    """A constant whose float values differ: by how much, and in how many of its elements.

    A constant of another shape differs without bound in all of them.
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
    the names of outputs, `sections` the HTA sections of one chip, named by that chip.
    """

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    parameters: tuple[PropertyChange, ...]
    dims: tuple[PropertyChange, ...]
    weights: tuple[WeightChange, ...]
    outputs: tuple[PropertyChange, ...]
    sections: tuple[PropertyChange, ...] = ()

    def __bool__(self) -> bool:
        """True if there is any."""
        return any(vars(self).values())

    def sheet(self) -> DisplayTable:
        """A row for each difference, in the order of the kinds."""
        rows: list[tuple[Cell, ...]] = [
            (name, "only in the first", None, None) for name in self.only_first
        ]
        rows += [(name, "only in the second", None, None) for name in self.only_second]
        rows += [
            (parameter.layer, parameter.what, *_ends(parameter))
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
            (output.layer, output.what, *_ends(output))
            for output in (*self.outputs, *self.sections)
        ]
        title = f"{len(rows)} differences" if rows else "no difference"
        return DisplayTable(title, ("layer", "what", "first", "second"), tuple(rows))

    def of(self, kinds: Collection[str]) -> Difference:
        """Return what is of some `KINDS` of difference, and nothing else."""
        gone = (name for kind, names in KINDS.items() if kind not in kinds for name in names)
        return replace(self, **dict.fromkeys(gone, ()))


KINDS = {
    "layers": ("only_first", "only_second"),
    "parameters": ("parameters",),
    "dims": ("dims",),
    "weights": ("weights",),
    "outputs": ("outputs",),
    "sections": ("sections",),
}
"""Kinds of difference, and the fields that hold them."""


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
    mine, theirs = _properties(row), _properties(other)
    for what in dict.fromkeys((*mine, *theirs)):
        if mine.get(what) != theirs.get(what):
            yield PropertyChange(row.name, what, mine.get(what), theirs.get(what))


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
    mine, theirs = _sections_by_chip(first), _sections_by_chip(second)
    for chip in dict.fromkeys((*mine, *theirs)):
        if mine.get(chip) != theirs.get(chip):
            yield PropertyChange(chip, "HTA sections", mine.get(chip), theirs.get(chip))


def _sections_by_chip(model: Model) -> dict[str, tuple[str, ...]]:
    """First and last layer of each section."""
    found: dict[str, tuple[str, ...]] = {}
    for section in model.hta if model.quantized else ():
        ends = f"{section.layers[0]} to {section.layers[-1]}"
        found[section.chip] = (*found.get(section.chip, ()), ends)
    return found


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


def _compare(mine: Constant, theirs: Constant) -> tuple[float, int, int]:
    """Largest difference, number of values that differ, number of values."""
    if mine.shape != theirs.shape:
        return np.inf, mine.elements, mine.elements
    gap = np.abs(mine.value().astype(np.float64) - theirs.value().astype(np.float64))
    return float(gap.max(initial=0.0)), int(np.count_nonzero(gap)), mine.elements
