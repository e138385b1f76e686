"""Published measurements of real devices, for the calibration and for comparison in tables.

One row of measured_latency.csv is one published number. Left out: all other latencies; networks and
chips on which the model is tested are not in this file.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hexsim.datasheets.measurements.csv_rows import read_rows

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Measurement:
    """One published latency.

    `model` is the built-in network with the measured structure. `stack` is the name
    of a stack file, except for software without one. `perf_profile` is None if the
    stack's own default was used, or is assumed to have been used.
    `idle_ms` is the idle time before the call, `buffer` the type of its user buffers; both are
    None if unknown. Buffers are inferred: the rules of MLPerf Inference v0.5 leave conversion to
    UINT8 untimed and let inputs lie in memory that the accelerator sees.
    `input_nhwc` is the input shape, `resolution_ms` the rounding or spread of the number.
    """

    chip: str
    runtime: str
    stack: str
    network: str
    network_variant: str
    model: str
    input_nhwc: tuple[int, ...]
    batch: int
    idle_ms: float | None
    perf_profile: str | None
    buffer: str | None
    statistic: str
    latency_ms: float
    resolution_ms: float
    note: str
    source: str

    @property
    def forward(self) -> bool:
        """Whether the number is the forward propagate time, not the wall clock of the call."""
        return self.statistic == "forward_propagate"


@dataclass(frozen=True)
class MeasuredLayer(Measurement):
    """One latency of a layer, from a profile of its network; `layer_class` is that of its call."""

    layer: str
    layer_class: str


@functools.cache
def rows() -> tuple[Measurement, ...]:
    """Read every row, in file order."""
    return read_rows(
        "measured_latency.csv",
        Measurement,
        input_nhwc=lambda record: tuple(map(int, record["input_nhwc"].split("x"))),
        idle_ms=lambda record: _unless(record["idle_ms_before_call"], "unknown", float),
        perf_profile=lambda record: _unless(record["perf_profile"], "", str),
        buffer=lambda record: _unless(record["buffer"], "unknown", str),
    )


def find(
    model: str, chip: str, stack: str, runtime: str, *, forward: bool
) -> tuple[Measurement, ...]:
    """Return the rows of a built-in network, shortest first; a published range has two rows."""
    key = (model, chip, stack, runtime, forward)
    matching = (
        row for row in rows() if (row.model, row.chip, row.stack, row.runtime, row.forward) == key
    )
    return tuple(sorted(matching, key=lambda row: row.latency_ms))


def _unless(text: str, unknown: str, read: Callable[[str], _Value]) -> _Value | None:
    return None if text == unknown else read(text)
