"""The rows of the tensor processors."""

from __future__ import annotations

from collections import Counter

from benchmarks.measured.htp import htp_rows


def test_every_row_has_a_latency_and_a_source() -> None:
    """No number without an owner."""
    assert len(htp_rows()) == 482
    assert all(row.latency_ms > 0 and "AI Hub Models" in row.source for row in htp_rows())


def test_a_network_is_measured_once_by_each_way() -> None:
    """So that no row weighs twice."""
    keys = Counter((r.network, r.precision, r.runtime, r.chip) for r in htp_rows())
    assert set(keys.values()) == {1}
