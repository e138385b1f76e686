"""A model as CSV: a row per layer with the columns of snpe-dlc-info."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.dlc import Container
from hexsim.dlc.inspection import inspect
from hexsim.reports.csv_text import csv_text
from hexsim.reports.network.layer_text import output_dims, parameter_lines
from hexsim.reports.network.table import HEADER

if TYPE_CHECKING:
    from hexsim.memory import LayerMemory
    from hexsim.reports.inference.memory import NeededOn

_MEMORY = ("Weight Bytes", "Packed Bytes", "Live Bytes", "On-chip Bytes")


def info_csv(container: Container, needed: NeededOn | None = None) -> str:
    """Return the layers as CSV text; several entries of a cell are separated by `; `.

    With `needed` there are columns of memory in bytes, empty for inputs.
    """
    layers_memory = needed.layers if needed else {}
    network = container.model.network
    lines = []
    for row in inspect(container.model):
        shapes = output_dims(row)
        parameters = parameter_lines(row, network.total_parameters, network.total_macs)
        lists = (row.inputs, row.outputs, shapes, row.runtimes, parameters)
        cells = (row.id, row.name, row.type, *("; ".join(cell) for cell in lists))
        lines.append(
            (*cells, *_memory(None if row.type == "data" else layers_memory.get(row.name), needed))
        )
    return csv_text((*HEADER, *(_MEMORY if needed else ())), lines)


def _memory(layer: LayerMemory | None, needed: NeededOn | None) -> tuple[int | str, ...]:
    if needed is None:
        return ()
    if layer is None:
        return ("",) * len(_MEMORY)
    return layer.weight_bytes, layer.packed_bytes, layer.live_bytes, layer.on_chip_bytes
