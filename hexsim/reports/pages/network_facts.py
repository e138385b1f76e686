"""The data of the page on a network: that of `hexsim info`, and a summary of each constant.

A page must open fast, so data without a bound is cropped, and the page says so: channels of an
encoding, names in a list, long texts, histograms. `left_out` counts the missing items, by key.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from hexsim import __version__
from hexsim.dlc import Container
from hexsim.dlc.inspection import constants_by_role
from hexsim.graph.ir import Constant
from hexsim.quantization.model import Model
from hexsim.reports.pages.histogram import histogram
from hexsim.results.document import plain
from hexsim.studies.model_info import info_of

_CHANNELS = 12_000
"""The number of channels in a page, divided among all encodings per channel."""
_FEWEST_CHANNELS = 4
_HISTOGRAMS = 3_000
_NAMES = 64
_LETTERS = 400
_VALUES = 8
"""The most elements of a constant whose values are shown."""


def network_facts(source: str, container: Container) -> dict[str, Any]:
    """Return the data of `info` with constants, cropped for a page; reads the weights."""
    model = container.model
    facts = {"hexsim_version": __version__, **plain(info_of(source, container))}
    network = model.network
    names = list(
        dict.fromkeys(
            name for layer in network.layers for name in constants_by_role(layer, network).values()
        )
    )
    numbers = {name: number for number, name in enumerate(names)}
    counted = _largest(network.constants[name] for name in names)
    roles: list[dict[str, int]] = [{} for _ in network.inputs]
    for layer in network.layers:
        of_layer = constants_by_role(layer, network)
        roles.append({role: numbers[name] for role, name in of_layer.items()})
    with_channels = sum(
        "channels" in encoding for row in facts["layers"] for encoding in row["encodings"].values()
    )
    most_channels = max(_FEWEST_CHANNELS, _CHANNELS // max(1, with_channels))
    layers = [
        {**_layer(row, most_channels), "constants": by_role}
        for row, by_role in zip(facts["layers"], roles, strict=True)
    ]
    return {
        **facts,
        "layers": layers,
        "outputs": list(network.outputs),
        "weight_bytes": model.weight_bytes,
        "constants": [_constant(model, name, name in counted) for name in names],
    }


def _largest(constants: Iterable[Constant]) -> frozenset[str]:
    """Return the names of the constants that are counted: the largest, if there are too many."""
    ordered = sorted(constants, key=lambda constant: -constant.elements)
    return frozenset(constant.name for constant in ordered[:_HISTOGRAMS])


def _layer(row: dict[str, Any], most_channels: int) -> dict[str, Any]:
    lists = ("inputs", "outputs", "shapes", "varies")
    missing = {key: len(row[key]) - _NAMES for key in lists if len(row[key]) > _NAMES}
    return {
        **row,
        **{key: row[key][:_NAMES] for key in lists},
        "attributes": {key: _shortened(text) for key, text in row["attributes"].items()},
        "encodings": {
            role: _encoding(encoding, most_channels) for role, encoding in row["encodings"].items()
        },
        "left_out": missing,
    }


def _shortened(text: str) -> str:
    if len(text) <= _LETTERS:
        return text
    return f"{text[:_LETTERS]}… ({len(text)} characters, cut here)"


def _encoding(encoding: dict[str, Any], most: int) -> dict[str, Any]:
    """Return an encoding; one per channel has a column per figure and a range."""
    if "channels" not in encoding:
        return encoding
    channels: Sequence[dict[str, Any]] = encoding["channels"]
    first = channels[0]
    return {
        **{key: first[key] for key in ("bitwidth", "offset", "symmetric")},
        "channels": len(channels),
        "lowest": min(channel["min"] for channel in channels),
        "highest": max(channel["max"] for channel in channels),
        **{key: [channel[key] for channel in channels[:most]] for key in ("min", "max", "delta")},
        "left_out": max(0, len(channels) - most),
    }


def _constant(model: Model, name: str, counted: bool) -> dict[str, Any]:
    constant = model.network.constants[name]
    facts: dict[str, Any] = {
        "name": name,
        "shape": constant.shape,
        "type": model.data_type(name) or constant.dtype,
        "elements": constant.elements,
    }
    if not _is_number(constant.dtype):
        return {**facts, "note": "Its values are not numbers that can be counted."}
    facts["bytes"] = model.stored_bytes(name)
    if constant.elements <= _VALUES:
        values = constant.value()
        return {**facts, "values": [str(value) for value in values.ravel().tolist()]}
    if not counted:
        return {**facts, "note": f"Not counted: only the {_HISTOGRAMS} largest constants are."}
    binned = histogram(model, name)
    if binned is None:
        return {**facts, "note": "None of its values is a finite number."}
    return {**facts, "histogram": asdict(binned)}


def _is_number(dtype: str) -> bool:
    try:
        return np.dtype(dtype).kind in "fiu"
    except TypeError:
        return False
