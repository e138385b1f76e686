"""What a model consists of, as CSV: a row per layer with the columns of snpe-dlc-info."""

from __future__ import annotations

from hexsim.container import Container
from hexsim.container.inspection import inspect
from hexsim.reports.csv_text import csv_text
from hexsim.reports.info_table import HEADER
from hexsim.reports.layer_text import dims, parameter_lines


def info_csv(container: Container) -> str:
    """Return the layers as CSV text; several entries of a cell are separated by `; `."""
    network = container.model.network
    lines = []
    for row in inspect(container.model):
        shapes = [dims(shape) for shape in row.shapes]
        parameters = parameter_lines(row, network.total_parameters, network.total_macs)
        lists = (row.inputs, row.outputs, shapes, row.runtimes, parameters)
        lines.append((row.id, row.name, row.type, *("; ".join(cell) for cell in lists)))
    return csv_text(HEADER, lines)
