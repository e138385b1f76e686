"""The page on a network: drawing and list of its layers, and the details of a clicked layer.

The most frequent layer types have a colour each; all others share a grey. A reader may choose
multiply-adds or parameters instead; the stripe of a box keeps the colour of its type. The page of
a simulated network begins with its time, its boxes show first how long each layer takes, and its
timeline leads to them. Its data are those of `hexsim info`, and a summary of each constant.

A page must open fast, so data without a bound is cropped, and the page says so: channels of an
encoding, names in a list, long texts, histograms. `left_out` counts the missing items, by key.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from string import Template
from typing import Any

import numpy as np

from hexsim import __version__
from hexsim.dlc import Container
from hexsim.graph.ir import Constant
from hexsim.quantization.model import Model
from hexsim.records import asdict, dataclass
from hexsim.reports.colours import MAIN, SERIES, tint
from hexsim.reports.pages.figures.chart import most_of
from hexsim.reports.pages.figures.network import amounts_paint, result_paints
from hexsim.reports.pages.figures.timeline import timeline
from hexsim.reports.pages.figures.validation import most_noise, output_error
from hexsim.reports.pages.figures.weights import histogram
from hexsim.reports.pages.page import asset, page, shortened
from hexsim.reports.svg import Box, layer_box, network_svg, size
from hexsim.results.accuracy import as_db
from hexsim.results.document import plain
from hexsim.results.validation import Validation
from hexsim.studies.inspection import constants_by_role
from hexsim.studies.model_info import info_of
from hexsim.texts.figures import figure
from hexsim.timing.results import Result

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


_INPUTS, _OTHERS = "#f1f1f1", "#c4c8ce"
_DATA, _SHARE = "data", 0.55
_COSTS = (
    *("us", "engine", "bound", "bound_share", "ddr_bytes"),
    *("cpu_reason", "to_cpu_us", "from_cpu_us", "instead"),
)


@dataclass(frozen=True)
class Simulated:
    """The times of the network on `place`, a chip and runtime, and its errors if inputs judged."""

    place: str
    result: Result
    validation: Validation | None = None


def network_page(source: str, container: Container, simulated: Simulated | None = None) -> str:
    """Return the HTML document; `source` is the name by which the user gave the model."""
    network = container.model.network
    facts = network_facts(source, container)
    legend = _legend(facts["layers"])
    fills = {entry["type"]: (entry["fill"], entry["band"]) for entry in legend}
    boxes = [
        Box(name, _DATA, "", f"{name}: input", _INPUTS, (), (name,), (size(network.tensors[name]),))
        for name in network.inputs
    ]
    boxes += [layer_box(layer, network, *fills[layer.type]) for layer in network.layers]
    drawing = network_svg(boxes, folded=False)
    body = Template(asset("network.html")).substitute(drawing=drawing)
    macs = {layer["name"]: layer["macs"] for layer in facts["layers"]}
    lead = [most_of(macs, facts["total_macs"], "of the multiply-adds")]
    names, rows = [box.name for box in boxes], facts["layers"]
    paints = {
        "MACs": amounts_paint(names, macs, MAIN, _number),
        "parameters": amounts_paint(
            names, {row["name"]: row["param_count"] for row in rows}, MAIN, _number
        ),
    }
    first, answers = None, list[tuple[str, str]]()
    if simulated is not None:
        result = simulated.result
        errors = simulated.validation.layers if simulated.validation else ()
        on_chip = result_paints(names, result, errors)
        painted = {f"{name} on {simulated.place}": paint for name, paint in on_chip.items()}
        paints, first = paints | painted, next(iter(painted))
        us = {layer.name: layer.us for layer in result.layers}
        lead.insert(0, most_of(us, result.total_us, "of the inference"))
        answers.append((f"Inference on {simulated.place}", f"{figure(result.total_us / 1e3)} ms"))
        if simulated.validation:
            validation = simulated.validation
            answers.append(
                output_error(validation.output_sqnr_db, validation.output_sqnr_reference)
            )
            lead.insert(1, most_noise(errors))
    data = {**facts, "legend": legend, "lead": lead, "first": first, "answers": answers}
    data |= _on_chip(simulated)
    data["paints"] = {name: asdict(paint) for name, paint in paints.items()}
    return page(f"{network.name} - hexsim", body, shortened(data), ("network.css",), "network.js")


def _on_chip(simulated: Simulated | None) -> dict[str, Any]:
    """Return what a layer costs and its worst SQNR, by name, and the timeline."""
    if simulated is None:
        return {"costs": {}, "errors": {}, "timeline": None, "total_us": 0.0}
    result, validation = simulated.result, simulated.validation
    errors: dict[str, float | None] = {}
    for row in sorted(validation.layers, key=lambda row: as_db(row.sqnr_db)) if validation else ():
        errors.setdefault(row.layer, row.sqnr_db)
    drawn = timeline(result)
    return {
        "costs": {
            layer.name: {key: getattr(layer, key) for key in _COSTS} for layer in result.layers
        },
        "errors": errors,
        "total_us": result.total_us,
        "timeline": drawn.chart and {"chart": asdict(drawn.chart), "legend": drawn.legend},
    }


def _legend(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    counts = Counter(layer["type"] for layer in layers)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    series = iter(SERIES)
    colours = [_INPUTS if kind == _DATA else next(series, _OTHERS) for kind, _ in ordered]
    return [
        {
            "type": kind,
            "count": number,
            "band": band,
            "fill": band if kind == _DATA else tint(band, _SHARE),
        }
        for (kind, number), band in zip(ordered, colours, strict=True)
    ]


def _number(amount: float) -> str:
    return f"{amount:,.0f}"
