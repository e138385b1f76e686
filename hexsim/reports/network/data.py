"""A model as JSON, and as CSV: a row per layer with the columns of snpe-dlc-info."""

from typing import Any

from hexsim import __version__
from hexsim.dlc import Container
from hexsim.dlc.inspection import LETTERS, LayerInfo, inspect
from hexsim.planning.sections.described import hta_sections
from hexsim.reports.document import Record
from hexsim.reports.inference.memory import NeededOn, memory_facts
from hexsim.reports.network.layer_text import output_dims, parameter_lines
from hexsim.reports.network.table import HEADER, layers_used
from hexsim.results.document import plain
from hexsim.texts.csv_text import csv_text


def _rows(result: Any) -> list[LayerInfo]:
    return inspect(result.container.model)


_layer = Record(
    "A layer as snpe-dlc-info lists it; the inputs of the network come first, as type `data`.",
    LayerInfo,
    {"runtimes": lambda row: [LETTERS[letter] for letter in row.runtimes]},
)

_memory = Record("The memory of an inference.", "runtime chip", ("memory", memory_facts))

_times = Record(
    "The times of an inference, as simulated.",
    "runtime chip total_us=times.total_us",
    {"layers_us": lambda timed: timed.layers_us()},
)

info_facts = Record(
    "A model; encodings with every channel.",
    {"hexsim_version": lambda result: __version__},
    "source",
    ("container.model", "network=network.name quantized"),
    "metadata=container.metadata",
    {"layers": (_rows, [_layer])},
    ("container.model.network", "total_parameters total_macs"),
    {
        "layers_used": lambda result: layers_used(_rows(result)),
        "hta_sections": lambda result: hta_sections(result.container.model),
        "graphs": "container.model.graphs",
        "rescaled_weights": lambda result: plain(result.losses),
    },
    ("imports", {"imports": ""}),
    ("needed", {"memory": ("", _memory), "prepared": "prepared"}),
    ("timed", {"times": ("", _times)}),
    results="source container losses imports needed timed",
)


_MEMORY = {
    "weight_bytes": "Weight Bytes",
    "packed_bytes": "Packed Bytes",
    "live_bytes": "Live Bytes",
    "on_chip_bytes": "On-chip Bytes",
}


def info_csv(container: Container, needed: NeededOn | None = None) -> str:
    """Return the layers as CSV text; several entries of a cell are separated by `; `.

    With `needed` there are columns of memory in bytes, empty for inputs.
    """
    layers_memory = needed.layers if needed else {}
    network = container.model.network
    lines = []
    for row in inspect(container.model):
        parameters = parameter_lines(row, network.total_parameters, network.total_macs)
        lists = (row.inputs, row.outputs, output_dims(row), row.runtimes, parameters)
        cells = (row.id, row.name, row.type, *("; ".join(cell) for cell in lists))
        memory = None if row.type == "data" else layers_memory.get(row.name)
        lines.append((*cells, *(getattr(memory, name, "") for name in _MEMORY if needed)))
    return csv_text((*HEADER, *(_MEMORY.values() if needed else ())), lines)
