from __future__ import annotations

from dataclasses import replace

from hexsim.timing.results import Coverage, InferenceTiming, LayerTiming, Overhead, Span, Timeline

LAYER = LayerTiming(
    name="conv",
    type="convolutional",
    engine="hvx",
    start_ps=0,
    duration_ps=3_000_000,
    clock_hz=1.5e9,
    macs=90,
    packets=10,
    stalls=5,
    hvx_utilisation=0.25,
    ddr_read_bytes=5,
    ddr_write_bytes=6,
    l2_bytes=7,
    vtcm_bytes=0,
    parts_ps={"compute": 2_400_000, "ddr": 500_000, "overhead": 100_000},
    cost_model="kernel",
)


def test_a_layer_is_reported_in_cycles_of_its_own_clock() -> None:
    assert LAYER.cycles == 4500
    assert LAYER.us == 3.0
    assert LAYER.ddr_bytes == 11
    assert LAYER.stall_share == 1 / 3


def test_the_largest_part_of_a_layer_is_its_bound() -> None:
    assert (LAYER.bound, LAYER.bound_share) == ("compute", 0.8)
    other = replace(LAYER, parts_ps={"compute": 1_000_000, "ddr": 2_000_000})
    assert (other.bound, other.bound_share) == ("ddr", 2 / 3)


def test_forward_leaves_out_the_application_side() -> None:
    overheads = (Overhead("input_copy", 0, 40, forward=False), Overhead("rpc", 40, 60))
    timing = InferenceTiming(0, start_ps=100, end_ps=400, layers=(), overheads=overheads)
    assert timing.total_ps == 300
    assert timing.forward_ps == 260


def test_coverage_counts_layers_and_macs_by_cost_model() -> None:
    layers = [LAYER, replace(LAYER, cost_model="generic", macs=10)]
    coverage = Coverage.of([*layers, replace(LAYER, cost_model="generic", macs=0)])
    assert coverage.layers == {"kernel": 1, "generic": 2}
    assert coverage.layer_share("kernel") == 1 / 3
    assert coverage.mac_share("kernel") == 0.9
    assert coverage.mac_share("none") == 0.0


def test_coverage_of_nothing_is_zero() -> None:
    assert Coverage.of([]).layer_share("kernel") == 0.0


def test_a_track_is_busy_in_its_spans_and_idle_otherwise() -> None:
    timeline = Timeline((Span("a", "x", 0, 30), Span("b", "y", 10, 20), Span("a", "z", 40, 50)), 60)
    assert timeline.tracks == ("a", "b")
    assert (timeline.busy_ps("a"), timeline.idle_ps("a")) == (40, 20)
    assert (timeline.busy_ps("b"), timeline.idle_ps("b")) == (10, 50)
