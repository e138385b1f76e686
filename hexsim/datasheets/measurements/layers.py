"""Published times of single layers and operators: layer_latency.csv and op_latency.csv.

One row of layer_latency.csv is a layer of the profile of one network, with its times on three
runtimes. One row of op_latency.csv is the wall clock of a graph of one operator, or of a small
network after some idle time. The networks are not ours; files with their structure are public.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

_LAYERS = Path(__file__).with_name("layer_latency.csv")
_OPERATORS = Path(__file__).with_name("op_latency.csv")
_ROUNDING_US = 0.5


@dataclass(frozen=True)
class LayerRow:
    """The measured times of one layer in microseconds, by runtime.

    `dsp_resolution_us` is half of what the repetitions on the DSP differ by, and at least half a
    microsecond. `index` is its position in the profile; 0 is the network's input.
    """

    network: str
    chip: str
    stack: str
    profile: str
    layer: str
    index: int
    type: str
    output_nchw: tuple[int, ...]
    us: dict[str, float]
    dsp_resolution_us: float
    source: str


@dataclass(frozen=True)
class OperatorRow:
    """The measured time of a graph of one operator in milliseconds."""

    operator: str
    input_nchw: str
    precision: str
    chip: str
    runtime: str
    stack: str
    latency_ms: float
    note: str
    source: str


@functools.cache
def layer_rows() -> tuple[LayerRow, ...]:
    """Read every layer, in file order."""
    with _LAYERS.open(encoding="utf-8", newline="") as file:
        return tuple(_layer(record) for record in csv.DictReader(file))


@functools.cache
def operator_rows() -> tuple[OperatorRow, ...]:
    """Read every operator, in file order."""
    with _OPERATORS.open(encoding="utf-8", newline="") as file:
        return tuple(
            OperatorRow(
                operator=record["op"],
                input_nchw=record["input_nchw"],
                precision=record["precision"],
                chip=record["chip"],
                runtime=record["runtime"],
                stack=record["stack"],
                latency_ms=float(record["latency_ms"]),
                note=record["note"],
                source=record["source"],
            )
            for record in csv.DictReader(file)
        )


def _layer(record: dict[str, str]) -> LayerRow:
    spread = (float(record["dsp_max_us"]) - float(record["dsp_min_us"])) / 2
    return LayerRow(
        network=record["network"],
        chip=record["chip"],
        stack=record["stack"],
        profile=record["profile"],
        layer=record["layer"],
        index=int(record["index"]),
        type=record["type"],
        output_nchw=tuple(int(size) for size in record["output_nchw"].split("x")),
        us={runtime: float(record[f"{runtime}_us"]) for runtime in ("dsp", "cpu", "gpu")},
        dsp_resolution_us=max(spread, _ROUNDING_US),
        source=record["source"],
    )
