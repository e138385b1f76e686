"""A model as a short list of layers: shape, engines, work, and time on a chip if one is named.

Attributes and encodings are left out; they are in the layout of snpe-dlc-info and in the JSON file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.dlc import Container
from hexsim.dlc.inspection import LETTERS, LayerInfo, inspect
from hexsim.graph.ir import Network
from hexsim.reports.benchmark.summary import model_summary
from hexsim.reports.inference.memory import NeededOn
from hexsim.reports.network.layer_text import output_dims
from hexsim.reports.network.table import graph_lines, needed_lines, section_lines
from hexsim.reports.text import number, table
from hexsim.runtimes import Runtime
from hexsim.texts.figures import figure

if TYPE_CHECKING:
    from hexsim.timing.results import Result

_KEY = ", ".join(f"{letter} {target}" for letter, target in LETTERS.items())
HEADER = ("id", "layer", "type", "output", "runs on", "MACs", "parameters")


@dataclass(frozen=True)
class TimedOn:
    """The times of an inference on a runtime of a chip."""

    chip: str
    runtime: Runtime
    times: Result

    def layers_us(self) -> dict[str, float]:
        """Return the time of each layer by its name, in microseconds."""
        return {layer.name: layer.us for layer in self.times.layers}


def info_compact(
    source: str, container: Container, timed: TimedOn | None = None, needed: NeededOn | None = None
) -> str:
    """Return heading, table of layers and footer."""
    model = container.model
    header: tuple[str, ...] = HEADER
    rows = [_cells(row) for row in inspect(model)]
    if timed is not None:
        header, known = (*header, "us"), timed.layers_us()
        rows = [(*row, figure(known[row[1]]) if row[1] in known else "") for row in rows]
    if needed is not None:
        header, live = (*header, "live KiB", "weights KiB"), needed.layers
        rows = [
            (
                *row,
                figure(live[row[1]].live_bytes / 2**10),
                figure((live[row[1]].weight_bytes + live[row[1]].packed_bytes) / 2**10),
            )
            if row[1] in live
            else (*row, "", "")
            for row in rows
        ]
    first_to_go = tuple(map(header.index, ("type", "parameters", "runs on", "output")))
    lines = (
        _heading(source, container),
        "",
        table(header, rows, left=frozenset({1, 2, 3, 4}), first_to_go=first_to_go),
        "",
        f"runs on: {_KEY}; by the rules of SNPE 1.x",
        model_summary(model),
        *_pictures(model.network),
        *_times(timed),
        *section_lines(model),
        *graph_lines(model),
        *needed_lines(needed),
    )
    return "\n".join(lines)


def _heading(source: str, container: Container) -> str:
    model = container.model
    network = model.network
    kind = "quantised" if model.quantized else "float"
    layers = number(len(network.layers), "layer")
    work = f"{network.total_macs:,} MACs, {network.total_parameters:,} parameters"
    return f"{Path(source).name}: {kind}, {layers}, {work}"


def _cells(row: LayerInfo) -> tuple[str, ...]:
    function = row.attributes.get("function")
    return (
        f"{row.id}",
        row.name,
        f"{row.type} {function}" if function else row.type,
        ", ".join(output_dims(row)),
        row.runtimes,
        f"{row.macs:,}" if row.macs else "",
        f"{row.param_count:,}" if row.param_count else "",
    )


def _pictures(network: Network) -> Iterator[str]:
    """Yield how pictures become the inputs, where the file says it."""
    for name in network.inputs:
        if steps := network.input_format(name).pictures:
            yield f"input '{name}', pictures: {steps}"


def _times(timed: TimedOn | None) -> Iterator[str]:
    if timed is not None:
        yield (
            f"us: on {timed.runtime} of {timed.chip}, as simulated; an inference takes "
            f"{figure(timed.times.total_us)} us with its overheads"
        )
