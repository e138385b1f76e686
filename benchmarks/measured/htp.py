"""Published latencies of networks on the tensor processors of V68 and later.

One row of htp_latency.csv is one number of the performance tables of AI Hub Models (BSD-3), or of
the results of MLPerf Mobile ("snpe": an application was timed). Some rows
of a delegate take half or twenty times as long as those of QNN; their notes say so, and they
are not fitted. Repetitions differ by 1 %, releases by 3 to 5 %, and the same network compiled
from two frameworks by 2 % in floats and 12 % in codes.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hexsim.datasheets.measurements import read_rows


@dataclass(frozen=True)
class HtpRow:
    """One published latency; `network_file` is "" if no file has the network's structure.

    `peak_memory_mb` is the upper end of the memory that AI Hub saw its process take; on Linux and
    Windows it is a few megabytes, so that the graph is not in it, and NaN if nobody published it.
    """

    network: str
    network_file: str
    precision: str
    runtime: str
    chip: str
    latency_ms: float
    peak_memory_mb: float
    note: str
    source: str


@functools.cache
def htp_rows() -> tuple[HtpRow, ...]:
    """Read every row, in file order."""
    return read_rows(
        "htp_latency.csv",
        HtpRow,
        peak_memory_mb=lambda record: float(record["peak_memory_mb"] or "nan"),
    )
