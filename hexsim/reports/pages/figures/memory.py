"""Memory over an inference: the activations that are live while each layer runs."""

from typing import Any

from hexsim.reports.colours import MAIN
from hexsim.reports.inference.memory import memory_parts
from hexsim.reports.pages.figures.chart import chart, name_columns, rectangles
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.results.costs import MemoryUse
from hexsim.texts.figures import size

_KIB = 1024
_HEIGHT = 420
_SIZES = ("live", "weight", "packed", "on_chip")


def memory_figure(memory: MemoryUse) -> Figure:
    """Return the figure of the memory of an inference."""
    layers = memory.layers
    live = [layer.live_bytes / _KIB for layer in layers]
    columns: dict[str, list[Any]] = {
        "name": [layer.name for layer in layers],
        "left": [number - 0.5 for number in range(len(layers))],
        "right": [number + 0.5 for number in range(len(layers))],
        "bottom": [0] * len(layers),
        "top": live,
    }
    plot = chart(
        "",
        "KiB live",
        height=_HEIGHT,
        tooltip=(("", "@name"), ("live", "@top{0,0.0} KiB")),
    )
    rectangles(plot, columns, fill_color=MAIN)
    name_columns(plot, columns["name"])
    plot.y_range.start = 0
    return Figure(
        "Memory",
        "Activations that are live while a layer runs, in the order in which layers run. All that "
        f"is allocated is {size(memory.peak_bytes)}: {memory_parts(memory)}.",
        FigureTable(
            ("layer", "type", "engine", "live KiB", "weights KiB", "packed KiB", "on chip KiB"),
            [
                (
                    *(layer.name, layer.type, layer.engine),
                    *(getattr(layer, f"{key}_bytes") / _KIB for key in _SIZES),
                )
                for layer in layers
            ],
        ),
        plot,
    )
