"""The invariants of simulated time, over random small networks and chips."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import background, chips, stacks
from hexsim.datasheets.background import Background
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Shape
from hexsim.layers import Opaque
from hexsim.simulation.simulator import Job, Workload, clients_alone, simulate
from hexsim.timing.results import LayerTiming, Overhead, Result
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples

PHONES = [
    ("sd820", "snpe-1.23"),
    ("sd835", "snpe-1.23"),
    ("sd845", "snpe-1.30"),
    ("sd855", "tflite-hexagon"),
    ("sd865", "qnn-2.45"),
]
SLOW = examples(40)


@st.composite
def phones(draw: st.DrawFn) -> tuple[Chip, Stack]:
    name, _ = draw(st.sampled_from(PHONES))
    chip, stack = phone(name)
    factor = draw(st.floats(0.3, 3.0))
    for path in (
        "memory.ddr_peak_bytes_per_s",
        "memory.stream_bytes_in_flight",
        "dsp.l2_bytes",
        "dsp.l2_port_bytes_per_clk",
    ):
        if draw(st.booleans()):
            value = dict(chip.quantities())[path].value * factor
            chip = chip.with_value(path, int(value))
    return chip, stack


def run(network: Network, phone: tuple[Chip, Stack], runtime: str = "dsp", **job: object) -> Result:
    return simulate(Workload((Job(plan(network, runtime), **job),)), *phone)  # type: ignore[arg-type]


def clock_of(phone: tuple[Chip, Stack]) -> float:
    chip, stack = phone
    return chip.dsp.clock_hz(stack.profile().dsp_corner)


@SLOW
@given(networks(), phones(), st.sampled_from(["dsp", "cpu", "gpu"]), st.floats(0, 20))
def test_every_picosecond_is_charged_once(
    network: Network, phone: tuple[Chip, Stack], runtime: str, idle_ms: float
) -> None:
    inference = run(network, phone, runtime, idle_ms=idle_ms).inferences[0]
    charges = [*inference.layers, *inference.overheads]
    assert all(charge.duration_ps >= 0 for charge in charges)
    assert sum(charge.duration_ps for charge in charges) == inference.total_ps
    now = inference.start_ps
    for charge in sorted(charges, key=lambda charge: (charge.start_ps, charge.duration_ps)):
        assert charge.start_ps == now
        now += charge.duration_ps
    assert 0 < inference.forward_ps <= inference.total_ps


@SLOW
@given(networks(), phones())
def test_no_layer_beats_the_vector_unit_or_the_memory(
    network: Network, phone: tuple[Chip, Stack]
) -> None:
    chip, stack = phone
    memory = chip.memory
    bandwidth = memory.ddr_peak_bytes_per_s * memory.efficiency * stack.profile().bus_vote
    for layer in run(network, phone).layers:
        if layer.engine == "hvx":
            assert layer.cycles >= layer.macs / chip.dsp.hvx.int8_macs_per_clk
            assert layer.duration_ps >= layer.ddr_bytes / bandwidth * 1e12 - 1
            port = chip.dsp.l2_port_bytes_per_clk * clock_of(phone)
            assert layer.duration_ps >= layer.l2_bytes / port * 1e12 - 1


@SLOW
@given(networks(), phones(), st.integers(1, 2))
def test_bytes_of_layers_and_edges_are_those_that_went_through_the_memory(
    network: Network, phone: tuple[Chip, Stack], count: int
) -> None:
    result = run(network, phone, count=count)
    movers: list[LayerTiming | Overhead] = []
    for inference in result.inferences:
        movers += [layer for layer in inference.layers if layer.engine == "hvx"]
        movers += inference.overheads
    assert sum(m.ddr_read_bytes for m in movers) == result.counters["dsp_ddr_read_bytes"]
    assert sum(m.ddr_write_bytes for m in movers) == result.counters["dsp_ddr_write_bytes"]


@SLOW
@given(networks(), phones(), st.sampled_from(["dsp", "cpu", "gpu"]))
def test_the_parts_of_a_layer_make_up_its_time(
    network: Network, phone: tuple[Chip, Stack], runtime: str
) -> None:
    for layer in run(network, phone, runtime).layers:
        assert all(part >= 0 for part in layer.parts_ps.values())
        assert sum(layer.parts_ps.values()) == pytest.approx(layer.duration_ps, abs=50)


@SLOW
@given(networks(), phones())
def test_tracks_do_not_overlap_and_busy_and_idle_make_the_total(
    network: Network, phone: tuple[Chip, Stack]
) -> None:
    timeline = run(network, phone).timeline
    for track in timeline.tracks:
        spans = [span for span in timeline.spans if span.track == track]
        for before, after in itertools.pairwise(spans):
            assert before.t1_ps <= after.t0_ps
        assert spans[-1].t1_ps <= timeline.end_ps
        assert timeline.idle_ps(track) >= 0
    inferences = [track for track in timeline.tracks if track == "inference"]
    assert [timeline.idle_ps(track) for track in inferences] == [0]


@SLOW
@given(networks(), phones())
def test_equal_inputs_give_equal_results(network: Network, phone: tuple[Chip, Stack]) -> None:
    assert repr(run(network, phone)) == repr(run(network, phone))
    assert run(network, phone).timeline == run(network, phone).timeline


@SLOW
@given(
    networks(),
    st.sampled_from(PHONES),
    st.sampled_from(["memory.ddr_peak_bytes_per_s", "memory.stream_bytes_in_flight", "clock"]),
    st.floats(1.01, 4.0),
)
def test_with_one_worker_more_bandwidth_or_clock_is_never_slower(
    network: Network, names: tuple[str, str], path: str, factor: float
) -> None:
    chip, stack = phone(names[0])
    stack = stack.with_value("dispatch.max_vector_workers", 1)
    if path == "clock":
        path = f"dsp.clocks_hz.{stack.profile().dsp_corner}"
    value = dict(chip.quantities())[path].value
    better = chip.with_value(path, int(value * factor))
    slow, fast = run(network, (chip, stack)), run(network, (better, stack))
    rounding_ps = 4 * len(slow.timeline.spans)
    assert fast.total_ps <= slow.total_ps + rounding_ps


def chain(layers: int = 3) -> Network:
    net = Sketch((1, 28, 28, 32))
    last = "in"
    for _ in range(layers):
        last = net.conv(last, 64, 3)
    return net.network(last)


@cache
def phone(name: str = "sd835") -> tuple[Chip, Stack]:
    return chips.load(name), stacks.load(dict(PHONES)[name])


def test_counters_are_the_sums_of_the_layers() -> None:
    result = run(chain(), phone(), count=2)
    assert len(result.inferences) == 2
    assert result.counters["macs"] == 2 * chain().total_macs
    assert result.counters["packets"] == 2 * sum(layer.packets for layer in result.layers)


def wide_convolution(net: Sketch) -> str:
    return net.conv("in", 256, 3)


@pytest.mark.parametrize(
    ("shape", "layer", "changed", "bound"),
    [
        ((1, 28, 28, 256), wide_convolution, {}, "compute"),
        ((1, 28, 28, 256), wide_convolution, {"dsp.l2_port_bytes_per_clk": 8}, "l2"),
        ((1, 28, 28, 256), wide_convolution, {"memory.ddr_peak_bytes_per_s": 10**8}, "ddr"),
        ((1, 4, 4, 32), lambda net: net.pool("in"), {}, "overhead"),
        ((1, 4096), lambda net: net.dense("in", 4096), {}, "latency"),
        (
            (1, 4096),
            lambda net: net.dense("in", 4096),
            {"memory.stream_bytes_in_flight": 10**5},
            "ddr",
        ),
    ],
)
def test_layers_are_bound_by_what_they_were_built_to_lack(
    shape: Shape, layer: Callable[[Sketch], str], changed: dict[str, int], bound: str
) -> None:
    net = Sketch(shape)
    network = net.network(layer(net))
    chip, stack = phone()
    for path, value in changed.items():
        chip = chip.with_value(path, value)
    (timing,) = run(network, (chip, stack)).layers
    assert timing.bound == bound
    assert timing.bound_share > 0.5


def test_layers_without_a_kernel_are_reported_as_generic() -> None:
    net = Sketch((1, 8, 8, 32))
    last = net.conv("in", 32)
    last = net.add(Opaque, last, op_type="Erf", node=b"", shapes=(net.shape(last),))
    coverage = run(net.network(last), phone()).coverage
    assert coverage.layers == {"kernel": 1, "generic": 1}
    assert coverage.mac_share("kernel") == 1.0


def test_idle_time_before_the_call_wakes_what_fell_asleep() -> None:
    warm, cold = run(chain(), phone(), idle_ms=0), run(chain(), phone(), idle_ms=1000)
    names = {overhead.name for overhead in cold.overheads}
    assert {"cpu_wake", "dsp_wake"} <= names
    assert not {"cpu_wake", "dsp_wake"} & {overhead.name for overhead in warm.overheads}
    wakes = sum(o.duration_ps for o in cold.overheads if o.name.endswith("wake"))
    assert cold.total_ps - warm.total_ps == wakes


def test_the_bus_and_clock_of_a_profile_reach_the_dsp() -> None:
    burst, saver = (
        run(chain(), phone("sd855"), perf_profile=name) for name in ("burst", "power_saver")
    )
    assert saver.layers[0].clock_hz < burst.layers[0].clock_hz
    assert saver.total_ps > burst.total_ps


def test_a_second_graph_waits_for_vector_contexts_and_overlaps_the_rest() -> None:
    job = Job(plan(chain(8)))
    together = simulate(Workload((job, job)), *phone("sd855"))
    alone = simulate(Workload((job,)), *phone("sd855"))
    first, second = together.inferences
    assert first.total_ps == alone.total_ps
    assert "context_wait" in {overhead.name for overhead in second.overheads}
    assert alone.total_ps < together.timeline.end_ps < 2 * alone.total_ps


def test_arrivals_and_counts_are_kept() -> None:
    job = replace(Job(plan(chain())), arrival_ps=5_000_000, count=3, idle_ms=2.0)
    inferences = simulate(Workload((job,)), *phone()).inferences
    assert inferences[0].start_ps == 5_000_000
    for before, after in itertools.pairwise(inferences):
        assert after.start_ps - before.end_ps == 2_000_000_000


def test_a_job_that_has_a_time_begins_nothing_after_it_but_runs_once() -> None:
    job = Job(plan(chain()), until_ps=5_000_000_000)
    starts = [inference.start_ps for inference in simulate(Workload((job,)), *phone()).inferences]
    assert len(starts) >= 2
    assert max(starts) < 5_000_000_000
    late = replace(job, arrival_ps=6_000_000_000)
    assert len(simulate(Workload((late,)), *phone()).inferences) == 1


def test_an_empty_workload_is_refused() -> None:
    with pytest.raises(HexsimError, match="no inference to run"):
        simulate(Workload(()), *phone())


def test_a_part_that_is_too_slow_to_end_is_reported() -> None:
    slow = chips.load("sd835").with_value("dsp.clocks_hz.turbo", 1e-300)
    net = Sketch((1, 8, 8, 8))
    with pytest.raises(HexsimError, match="sd835 is so slow that its work never ends"):
        run(net.network(net.conv("in", 8, 3)), (slow, stacks.load("snpe-1.23")))


def test_a_runtime_that_the_chip_lacks_is_refused() -> None:
    with pytest.raises(HexsimError, match="sd625"):
        simulate(Workload((Job(plan(chain())),)), chips.load("sd625"), stacks.load("snpe-1.23"))


def test_a_fallback_of_which_nothing_is_known_is_refused_by_the_layer() -> None:
    """A chip with the data of its tensor processor alone."""
    asked = plan(chain())
    first, *rest = asked.subnets
    fallback = replace(first, runtime="cpu", engine="cpu", reason="the operator has no layer type")
    job = Job(replace(asked, runtime="htp", subnets=(fallback, *rest)))
    tree = {key: node for key, node in chips.load("sd8gen3").tree.items() if key != "cpu"}
    chip = Chip.from_tree(tree, "sd8gen3")
    with pytest.raises(HexsimError, match=r"falls back to the cpu \(.*, for which sd8gen3 has no"):
        simulate(Workload((job,)), chip, stacks.load("qnn-2.43"))


def simple_load(**values: object) -> Background:
    client = {"name": "c", "period_us": 500, "priority": 100, "unit": "scalar", "packets": 20_000}
    tree = {"name": "load", "title": "A load", "client": [{**client, **values}]}
    return Background.from_tree(tree, "load.toml")


SHIPPED = tuple(background.load(name) for name in background.names())


def test_background_clients_slow_a_network_down_and_are_reported() -> None:
    job = Job(plan(chain(8)), count=3)
    alone = simulate(Workload((job,)), *phone())
    beside = simulate(Workload((job,), SHIPPED), *phone())
    assert beside.timeline.end_ps > alone.timeline.end_ps
    assert [client.name for client in beside.clients] == [
        f"{load.name} {client.name}" for load in SHIPPED for client in load.clients
    ]
    playback = next(client for client in beside.clients if client.name == "audio playback")
    end_ps = max(inference.end_ps for inference in beside.inferences)
    assert playback.released == -(-end_ps // 1_000_000_000)


@SLOW
@given(networks(), phones())
def test_beside_clients_every_picosecond_is_charged_once_and_results_are_equal(
    network: Network, phone: tuple[Chip, Stack]
) -> None:
    workload = Workload((Job(plan(network), count=2),), SHIPPED)
    first, two = simulate(workload, *phone), simulate(workload, *phone)
    assert repr(first) == repr(two)
    assert first.timeline == two.timeline
    for inference in first.inferences:
        charges = [*inference.layers, *inference.overheads]
        assert sum(charge.duration_ps for charge in charges) == inference.total_ps
    for track in first.timeline.tracks:
        spans = [span for span in first.timeline.spans if span.track == track]
        for before, after in itertools.pairwise(spans):
            assert before.t1_ps <= after.t0_ps


def test_clients_alone_release_as_many_jobs() -> None:
    workload = Workload((Job(plan(chain(8)), count=3),), SHIPPED)
    beside = simulate(workload, *phone())
    end_ps = max(inference.end_ps for inference in beside.inferences)
    alone = clients_alone(workload, *phone(), end_ps)
    for ours, theirs in zip(alone, beside.clients, strict=True):
        assert ours.released == theirs.released
        assert ours.missed <= theirs.missed


def test_a_client_that_starves_the_network_is_named() -> None:
    hog = simple_load(period_us=10_000, threads=4, packets=400_000_000)
    with pytest.raises(HexsimError, match=r"background load: .* no inference ends within 10 s"):
        simulate(Workload((Job(plan(chain())),), (hog,)), *phone())


def test_the_same_load_twice_is_refused() -> None:
    with pytest.raises(HexsimError, match="'load' is given 2 times"):
        simulate(Workload((Job(plan(chain())),), (simple_load(), simple_load())), *phone())


def test_clients_need_a_dsp() -> None:
    with pytest.raises(HexsimError, match="sd625"):
        simulate(
            Workload((Job(plan(chain(), "cpu")),), (simple_load(),)),
            chips.load("sd625"),
            stacks.load("snpe-1.23"),
        )


def events(network: Network, count: int) -> int:
    workload = Workload((Job(plan(network), count=count),), SHIPPED)
    return simulate(workload, *phone()).counters["events"]


def test_events_grow_linearly_with_inferences_and_with_layers() -> None:
    queue = [events(chain(8), count) for count in (10, 20, 40)]
    assert (queue[2] - queue[1]) / (queue[1] - queue[0]) == pytest.approx(2, rel=0.05)
    # deep enough that the phase of the clients' periods, which a layer shifts, does not matter
    depth = [events(chain(layers), 10) for layers in (16, 32, 64)]
    assert (depth[2] - depth[1]) / (depth[1] - depth[0]) == pytest.approx(2, rel=0.05)
