"""The differences of two networks, layer by layer; layers match by name and type."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from hexsim.graph.ir import Constant, Network
from hexsim.quantization.model import Model
from hexsim.results.difference import KINDS, Difference, PropertyChange, WeightChange
from hexsim.results.info import InfoLayer
from hexsim.studies.inspection import constants_by_role, inspect
from hexsim.texts.fields import Part


def difference(
    first: Model, second: Model, names: tuple[str, str], kinds: Collection[str] = tuple(KINDS)
) -> Difference:
    """Compare two networks by `kinds`; reads the weights of the layers that both have.

    `names` are what the user calls them.
    """
    rows = {(row.type, row.name): row for row in inspect(first)}
    others = {(row.type, row.name): row for row in inspect(second)}
    pairs = [(row, others[key]) for key, row in rows.items() if key in others]
    only = [
        tuple(row.name for key, row in these.items() if "layers" in kinds and key not in those)
        for these, those in ((rows, others), (others, rows))
    ]
    kinds_of_change: dict[str, Callable[[], Iterator[Part]]] = {
        "parameters": lambda: _of_layers(pairs, _properties),
        "dims": lambda: _of_layers(pairs, lambda row: {"dims": row.shapes}),
        "weights": lambda: _weights(first.as_stored, second.as_stored),
        "outputs": lambda: _of_layers(pairs, lambda row: {"outputs": row.outputs}),
        "sections": lambda: _sections(first, second),
    }
    changes: dict[str, Any] = {
        kind: tuple(find()) for kind, find in kinds_of_change.items() if kind in kinds
    }
    return Difference(
        first=names[0], second=names[1], only_first=only[0], only_second=only[1], **changes
    )


def _of_layers(
    pairs: Iterable[tuple[InfoLayer, InfoLayer]],
    properties: Callable[[InfoLayer], Mapping[str, object]],
) -> Iterator[PropertyChange]:
    for row, other in pairs:
        for what, first, second in _changed(properties(row), properties(other)):
            yield PropertyChange(layer=row.name, what=what, first=first, second=second)


def _changed(
    first: Mapping[str, object], second: Mapping[str, object]
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the keys whose values differ, with both as text."""
    for key in dict.fromkeys((*first, *second)):
        if first.get(key) != second.get(key):
            yield key, _text(first.get(key)), _text(second.get(key))


def _text(value: object) -> str | None:
    if isinstance(value, tuple):
        return ", ".join(_dims(item) if isinstance(item, tuple) else str(item) for item in value)
    return None if value is None else str(value)


def _dims(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _properties(row: InfoLayer) -> dict[str, object]:
    return {
        **row.attributes,
        **{f"{role} encoding": coded for role, coded in {**row.encodings, **row.floats}.items()},
        "param count": row.param_count,
        "MACs per inference": row.macs,
    }


def _sections(first: Model, second: Model) -> Iterator[PropertyChange]:
    kinds = {"HTA sections": _sections_by_chip, "prepared graphs": _graphs_by_chip}
    for what, by_chip in kinds.items():
        for chip, before, after in _changed(by_chip(first), by_chip(second)):
            yield PropertyChange(layer=chip, what=what, first=before, second=after)


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
        names = {} if other is None else constants_by_role(other, second)
        for role, name in constants_by_role(layer, first).items():
            if role not in names:
                continue
            largest, count, of = _compare(first.constants[name], second.constants[names[role]])
            if count:
                yield WeightChange(
                    layer=layer.name, what=role, largest=largest, count=count, elements=of
                )


def _compare(first: Constant, second: Constant) -> tuple[float | None, int, int]:
    """Return the largest difference, the number of values that differ, and that of all values."""
    if first.shape != second.shape:
        return None, first.elements, first.elements
    error = np.abs(first.value().astype(np.float64) - second.value().astype(np.float64))
    return float(error.max(initial=0.0)), int(np.count_nonzero(error)), first.elements
