"""Published times of single layers and operators: layer_latency.csv and op_latency.csv.

One row of layer_latency.csv is a layer of the profile of one network, with its times on three
runtimes. One row of op_latency.csv is the wall clock of a graph of one operator, or of a small
network after some idle time. The networks are not ours; files with their structure are public.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hexsim.datasheets.measurements import Record, read_rows

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
    return read_rows(
        "layer_latency.csv",
        LayerRow,
        output_nchw=lambda record: tuple(map(int, record["output_nchw"].split("x"))),
        us=lambda record: {name: float(record[f"{name}_us"]) for name in ("dsp", "cpu", "gpu")},
        dsp_resolution_us=_dsp_resolution_us,
    )


@functools.cache
def operator_rows() -> tuple[OperatorRow, ...]:
    """Read every operator, in file order."""
    return read_rows("op_latency.csv", OperatorRow, operator=lambda record: record["op"])


def _dsp_resolution_us(record: Record) -> float:
    spread = (float(record["dsp_max_us"]) - float(record["dsp_min_us"])) / 2
    return max(spread, _ROUNDING_US)
