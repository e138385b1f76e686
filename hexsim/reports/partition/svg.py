"""A network drawn from top to bottom, each layer in the colour of the engine that runs it.

Consecutive subnets of one engine differ in shade, and each layer shows the number of its subnet.
"""

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.reports.colours import ENGINES, tint
from hexsim.reports.network.svg import Box, LegendEntry, network_svg
from hexsim.studies.cuts import Survey

_SHADES = (0.4, 0.7)


def shapes_of(layer: Layer, network: Network) -> tuple[str, ...]:
    """Return the shapes that a layer writes, as text for the arrows of a drawing."""
    return tuple(size(network.tensors[name]) for name in layer.outputs)


def size(tensor: Tensor) -> str:
    """Return the shape of a tensor as text."""
    return "x".join(map(str, tensor.shape)) or "scalar"


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
                tint(ENGINES[engine], _SHADES[number % 2]),
                layer.inputs,
                layer.outputs,
                shapes_of(layer, network),
            )
        )
    fills = {box.fill for box in boxes}
    engines = dict.fromkeys(piece.engine for piece in survey.pieces)
    shades = {engine: [tint(ENGINES[engine], share) for share in _SHADES] for engine in engines}
    legend = [
        LegendEntry(engine.upper(), tuple(shade for shade in shades[engine] if shade in fills))
        for engine in engines
    ]
    return network_svg(boxes, legend)
