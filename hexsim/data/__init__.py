"""Published measurements of real devices: what calibration may see and tables print beside ours.

One row of measured_latency.csv is one published number. Left out: any latency that is not in that
file; the model is scored elsewhere on other networks and chips.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_name("measured_latency.csv")


@dataclass(frozen=True)
class Measurement:
    """One published latency. `idle_ms` is the idle time before the call, None if unknown.

    `input_nhwc` is the input shape, `resolution_ms` the rounding or spread of the number.
    """

    chip: str
    runtime: str
    stack: str
    network: str
    network_variant: str
    input_nhwc: tuple[int, ...]
    batch: int
    idle_ms: float | None
    statistic: str
    latency_ms: float
    resolution_ms: float
    note: str
    source: str


@functools.cache
def rows() -> tuple[Measurement, ...]:
    """Read every row, in file order."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(_measurement(record) for record in csv.DictReader(file))


def find(chip: str, runtime: str, network: str, statistic: str) -> tuple[Measurement, ...]:
    """Return the rows that match exactly, in file order; a published range is two rows."""
    return tuple(
        row
        for row in rows()
        if (row.chip, row.runtime, row.network, row.statistic)
        == (chip, runtime, network, statistic)
    )


def _measurement(record: dict[str, str]) -> Measurement:
    idle = record["idle_ms_before_call"]
    return Measurement(
        chip=record["chip"],
        runtime=record["runtime"],
        stack=record["stack"],
        network=record["network"],
        network_variant=record["network_variant"],
        input_nhwc=tuple(int(size) for size in record["input_nhwc"].split("x")),
        batch=int(record["batch"]),
        idle_ms=None if idle == "unknown" else float(idle),
        statistic=record["statistic"],
        latency_ms=float(record["latency_ms"]),
        resolution_ms=float(record["resolution_ms"]),
        note=record["note"],
        source=record["source"],
    )
