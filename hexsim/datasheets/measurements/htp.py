"""Published latencies of networks on the tensor processors of V68 and later.

One row of htp_latency.csv is one number of the performance tables of AI Hub Models (BSD-3). Some
rows of a delegate take half or twenty times as long as those of QNN; their notes say so, and they
are not fitted. Repetitions differ by 1 %, releases by 3 to 5 %, and the same network compiled
from two frameworks by 2 % in floats and 12 % in codes.
"""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_name("htp_latency.csv")


@dataclass(frozen=True)
class HtpRow:
    """One published latency; `network_file` is "" if no file has the network's structure."""

    network: str
    network_file: str
    precision: str
    runtime: str
    chip: str
    latency_ms: float
    note: str
    source: str


@functools.cache
def htp_rows() -> tuple[HtpRow, ...]:
    """Read every row, in file order."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            HtpRow(
                network=record["network"],
                network_file=record["network_file"],
                precision=record["precision"],
                runtime=record["runtime"],
                chip=record["chip"],
                latency_ms=float(record["latency_ms"]),
                note=record["note"],
                source=record["source"],
            )
            for record in csv.DictReader(file)
        )
