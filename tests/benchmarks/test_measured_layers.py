"""The rows of single layers and operators."""

from __future__ import annotations

from benchmarks.measured.layers import layer_rows, operator_rows
from hexsim.datasheets import chips, stacks


def test_every_layer_has_three_times_and_a_source() -> None:
    rows = layer_rows()
    assert [row.index for row in rows] == list(range(112))
    assert all(row.source and row.dsp_resolution_us >= 0.5 for row in rows)
    assert all(min(row.us.values()) > 0 for row in rows if row.index)
    assert {(row.chip, row.stack) for row in rows} == {("sd865", "snpe-1.63")}


def test_a_layer_is_read_as_it_is_written() -> None:
    (row,) = (row for row in layer_rows() if row.layer == "Mul_2")
    assert row.us == {"dsp": 12968.0, "cpu": 2876.0, "gpu": 658.0}
    assert (row.output_nchw, row.dsp_resolution_us) == ((1, 32, 320, 320), 40.5)


def test_every_operator_has_a_latency_and_a_platform() -> None:
    rows = operator_rows()
    assert len(rows) == 27
    assert all(row.latency_ms > 0 and row.source for row in rows)
    assert {row.stack for row in rows} <= set(stacks.names())
    assert {row.chip for row in rows} <= set(chips.names())
