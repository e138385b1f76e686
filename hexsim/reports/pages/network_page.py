"""The page on a network: drawing and list of its layers, and the details of a clicked layer.

The most frequent layer types have a colour each; all others share a grey. A reader may choose
multiply-adds or parameters instead. The page of a simulated network begins with its time, and
its boxes show first how long each layer takes.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from string import Template
from typing import Any

from hexsim.dlc import Container
from hexsim.reports.colours import MAIN, SERIES, tint
from hexsim.reports.network.svg import Box, network_svg, size
from hexsim.reports.pages.case_figures import most_of
from hexsim.reports.pages.figures.graph import amounts_paint, layer_box, result_paints
from hexsim.reports.pages.network_facts import network_facts
from hexsim.reports.pages.shell import asset, page
from hexsim.reports.pages.study_figures import most_noise, output_error
from hexsim.results.validation import Validation
from hexsim.texts.figures import figure
from hexsim.timing.results import Result

_INPUTS, _OTHERS = "#f1f1f1", "#c4c8ce"
_DATA, _SHARE = "data", 0.55


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
    fills = {entry["type"]: entry["fill"] for entry in legend}
    boxes = [
        Box(name, _DATA, f"{name}: input", _INPUTS, (), (name,), (size(network.tensors[name]),))
        for name in network.inputs
    ]
    boxes += [layer_box(layer, network, fills[layer.type]) for layer in network.layers]
    body = Template(asset("network.html")).substitute(drawing=network_svg(boxes))
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
    data["paints"] = {name: asdict(paint) for name, paint in paints.items()}
    return page(f"{network.name} - hexsim", body, data, ("network.css",), "network.js")


def _legend(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return types with their colours and counts, the most frequent first."""
    counts = Counter(layer["type"] for layer in layers)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    colours = iter([tint(colour, _SHARE) for colour in SERIES])
    return [
        {
            "type": kind,
            "count": number,
            "fill": _INPUTS if kind == _DATA else next(colours, _OTHERS),
        }
        for kind, number in ordered
    ]


def _number(amount: float) -> str:
    return f"{amount:,.0f}"
