"""A model as text, in the layout of snpe-dlc-info.

With the memory of an inference there is one more column, and lines at the end.

Left out: SNPE's own estimate of memory, whose rule is not public, and the copyright line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.dlc import Container
from hexsim.dlc.inspection import LETTERS, LayerInfo, inspect
from hexsim.planning.sections.described import hta_sections
from hexsim.quantization.model import Model
from hexsim.reports.benchmark.summary import model_summary
from hexsim.reports.fitting import Fitted
from hexsim.reports.inference.memory import memory_line, prepared_lines
from hexsim.reports.network.layer_text import count, output_dims, parameter_lines
from hexsim.reports.text import table
from hexsim.texts.figures import size

if TYPE_CHECKING:
    from hexsim.memory import LayerMemory
    from hexsim.reports.inference.memory import NeededOn

HEADER = ("Id", "Name", "Type", "Inputs", "Outputs", "Out Dims", "Runtimes", "Parameters")
_FIRST_TO_GO = tuple(map(HEADER.index, ("Outputs", "Inputs", "Parameters", "Runtimes")))

_SECTION_HEADER = (
    *("HTA section for", "layer ids", "first layer", "last layer", "layers", "MACs"),
    *("inputs", "outputs", "record bytes"),
)
_FLOAT_BYTES = 4


def info_table(source: str, container: Container, needed: NeededOn | None = None) -> str:
    """Return heading, table of layers and footer."""
    network, metadata = container.model.network, container.metadata
    rows = inspect(container.model)
    parameters, macs = network.total_parameters, network.total_macs
    cells = [_cells(row, parameters, macs) for row in rows]
    header: tuple[str, ...] = HEADER
    if needed is not None:
        header = (*HEADER, "Memory")
        layers_memory = needed.layers
        cells = [
            (*cell, _memory(None if row.type == "data" else layers_memory.get(row.name)))
            for cell, row in zip(cells, rows, strict=True)
        ]
    runtimes = (f"{letter}:{runtime.upper()}" for letter, runtime in LETTERS.items())
    size = parameters * _FLOAT_BYTES // 2**20
    lines = (
        f"DLC info for: {Path(source).absolute() if Path(source).exists() else source}",
        f"Model Version: {metadata.model_version}",
        *_table(header, cells),
        "Note: The runtimes column follows the rules of SNPE 1.x (docs/reference/layers.md)",
        "Key : " + "\n      ".join(runtimes),
        "",
        f"Total parameters: {parameters} ({size} MB assuming single precision float)",
        f"Total MACs per inference: {count(macs)} (100%)",
        model_summary(container.model),
        f"Converter command: {metadata.converter_command}",
        f"Quantizer command: {metadata.quantizer_command}",
        f"DLC created with converter version: {metadata.converter_version}",
        f"Layers used by DLC: {', '.join(layers_used(rows))}",
        *section_lines(container.model),
        *graph_lines(container.model),
        *needed_lines(needed),
    )
    return "\n".join(lines)


def layers_used(rows: Sequence[LayerInfo]) -> list[str]:
    """Return the kinds of layers in capitals, in alphabetical order."""
    return sorted({row.kind.upper() for row in rows})


def section_lines(model: Model) -> Iterator[str]:
    """Yield the block on HTA sections, if there are any."""
    sections = hta_sections(model)
    if sections:
        rows = [
            (
                *(
                    section.chip,
                    section.ids,
                    section.first,
                    section.last,
                    f"{section.layers}",
                    f"{section.mac_share:.0%}",
                ),
                *(", ".join(section.inputs), ", ".join(section.outputs), f"{section.record_bytes}"),
            )
            for section in sections
        ]
        yield "\nAIP Info:"
        yield table(_SECTION_HEADER, rows, left=frozenset({0, 1, 2, 3, 6, 7}))


def graph_lines(model: Model) -> Iterator[str]:
    """Yield a line for each graph that is prepared for a tensor processor."""
    for graph in model.graphs:
        binary = size(graph.binary_bytes)
        yield f"prepared for {graph}: context binary of {binary} (estimate)"


def needed_lines(needed: NeededOn | None) -> Iterator[str]:
    """Yield the lines on memory, if they were requested."""
    if needed is not None:
        yield f"\nOn {needed.runtime} of {needed.chip}:"
        yield memory_line(needed.memory)
        if needed.prepared is not None:
            yield prepared_lines(needed.prepared)


def _cells(row: LayerInfo, parameters: int, macs: int) -> tuple[Sequence[str], ...]:
    """Return the lines of each cell."""
    return (
        (f"{row.id}",),
        (row.name,),
        (row.type,),
        row.inputs,
        row.outputs,
        output_dims(row),
        (" ".join(row.runtimes),),
        list(parameter_lines(row, parameters, macs)),
    )


def _memory(layer: LayerMemory | None) -> Sequence[str]:
    """Return the lines of the column Memory."""
    if layer is None:
        return ()
    weights = layer.weight_bytes + layer.packed_bytes
    lines = [f"live: {size(layer.live_bytes)}"]
    return [*lines, f"weights: {size(weights)}"] if weights else lines


def _table(header: Sequence[str], rows: Sequence[tuple[Sequence[str], ...]]) -> Iterator[str]:
    """Yield the lines of a table with rules above and below its heading and at its end."""
    lines = [line for row in rows for line in zip_longest(*row, fillvalue="")]
    all_columns = frozenset(range(len(header)))
    fitted = Fitted((header, *lines), all_columns, _FIRST_TO_GO, gap=3, border=4)
    widths = [fitted.widths[column] for column in fitted.columns]
    rule = "-" * (sum(widths) + 3 * len(widths) + 1)
    yield rule
    for index, line in enumerate((header, *lines)):
        for cells in fitted.broken(line):
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            yield f"| {' | '.join(padded)} |"
        if index == 0:
            yield rule
    yield rule
    yield from filter(None, [fitted.remark()])
