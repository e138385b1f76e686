"""The rows of the tensor processors."""

from __future__ import annotations

from collections import Counter

from benchmarks.measured.htp import htp_rows
from hexsim.datasheets import chips


def test_every_row_has_a_latency_and_a_source() -> None:
    """No number without an owner."""
    assert len(htp_rows()) == 502
    known = ("AI Hub Models", "MLPerf Mobile results")
    assert all(row.latency_ms > 0 and row.source.startswith(known) for row in htp_rows())
    assert {row.chip for row in htp_rows()} <= set(chips.names())


def test_a_network_is_measured_once_by_each_way() -> None:
    """So that no row weighs twice; an application was run with several releases."""
    rows = (row for row in htp_rows() if row.runtime != "snpe")
    keys = Counter((r.network, r.precision, r.runtime, r.chip) for r in rows)
    assert set(keys.values()) == {1}
