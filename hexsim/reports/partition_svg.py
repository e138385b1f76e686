"""A network drawn from top to bottom, each layer in the colour of the engine that runs it.

Consecutive subnets of one engine differ in shade, and each layer shows the number of its subnet.
"""

from __future__ import annotations

from collections.abc import Mapping

from hexsim.graph.ir import Network
from hexsim.reports.network_svg import Box, LegendEntry, network_svg
from hexsim.runtimes import Engine
from hexsim.studies.cuts import Survey

_COLOURS: Mapping[Engine, tuple[str, str]] = {
    "hta": ("#8fd19e", "#5fb878"),
    "hvx": ("#9ecbff", "#6aa9f0"),
    "htp": ("#8fd19e", "#5fb878"),
    "cpu": ("#ffd59e", "#f0b35a"),
    "gpu": ("#e0b3ff", "#c58af0"),
}
_NAMES: Mapping[Engine, str] = {
    "hta": "HTA",
    "hvx": "HNN on HVX",
    "htp": "HTP",
    "cpu": "CPU fallback",
    "gpu": "GPU",
}


def partition_svg(network: Network, survey: Survey) -> str:
    """Return the drawing as an SVG document."""
    numbers = {name: number for number, piece in enumerate(survey.pieces) for name in piece.layers}
    boxes = []
    for layer in network.layers:
        number = numbers[layer.name]
        engine = survey.pieces[number].engine
        note = f"{layer.type}, subnet {number}"
        boxes.append(
            Box(
                layer.name,
                note,
                f"{layer.name}: {note}, {engine}",
                _COLOURS[engine][number % 2],
                layer.inputs,
                layer.outputs,
            )
        )
    fills = {box.fill for box in boxes}
    engines = dict.fromkeys(piece.engine for piece in survey.pieces)
    legend = [
        LegendEntry(_NAMES[engine], tuple(shade for shade in _COLOURS[engine] if shade in fills))
        for engine in engines
    ]
    return network_svg(boxes, legend)
