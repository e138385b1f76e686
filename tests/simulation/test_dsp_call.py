from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.simulation.simulator import Job, Workload, simulate
from hexsim.timing.results import Result
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples

CHIP, STACK = chips.load("sd855"), stacks.load("snpe-1.30")


def run(network: Network, *sections: range, **job: object) -> Result:
    request = Job(on_hta(network, *sections), **job)  # type: ignore[arg-type]
    return simulate(Workload((request,)), CHIP, STACK)


def names(result: Result) -> list[str]:
    return [overhead.name for overhead in result.overheads]


def three() -> Network:
    net = Sketch((1, 16, 16, 32))
    return net.network(net.conv(net.conv(net.conv("in", 32), 32), 32))


def test_one_call_pays_its_entry_once_and_hands_every_subnet_over() -> None:
    result = run(three(), range(1, 2))
    assert [layer.engine for layer in result.layers] == ["hvx", "hta", "hvx"]
    parts = names(result)
    assert [parts.count(n) for n in ("rpc_invoke", "graph_start", "rpc_return")] == [1, 1, 1]
    inside = parts[parts.index("hnn_subnet") : parts.index("output_conversion")]
    first, second = result.layers[0], result.layers[1]
    assert inside == [
        "hnn_subnet",
        "to_d32 in",
        f"to_hta {three().layers[0].output}",
        "hta_subnet",
        "hta_interrupt",
        "hnn_subnet",
        f"to_d32 {three().layers[1].output}",
        f"from_d32 {three().layers[2].output}",
    ]
    assert first.start_ps + first.duration_ps <= second.start_ps
    charged = {o.name: o.duration_ps for o in result.overheads}
    assert charged["hta_subnet"] == round(STACK.partitioning.hta_subnet_s * 1e12)
    assert charged["hnn_subnet"] == round(STACK.partitioning.hnn_subnet_s * 1e12)


def test_without_a_section_aip_is_the_dsp() -> None:
    network = three()
    aip = simulate(Workload((Job(plan(network, "aip")),)), CHIP, STACK)
    dsp = simulate(Workload((Job(plan(network, "dsp")),)), CHIP, STACK)
    assert aip.total_ps == dsp.total_ps
    assert aip.overheads == dsp.overheads


def test_a_layer_of_the_engine_speaks_its_clock_and_its_lanes() -> None:
    result = run(three())
    hta = CHIP.hta
    clock_hz = hta.clock_hz("turbo")
    for layer in result.layers:
        assert (layer.engine, layer.cost_model, layer.packets) == ("hta", "tiles", 0)
        assert layer.clock_hz == clock_hz
        peak = layer.duration_ps / 1e12 * clock_hz * hta.macs_per_clk
        assert layer.array_utilisation == pytest.approx(layer.macs / peak)
        assert layer.bound in ("compute", "ddr", "overhead")


def test_a_fallback_to_the_cpu_makes_two_calls() -> None:
    net = Sketch((1, 16, 16, 32))
    first = net.conv("in", 32)
    middle = net.add(Opaque, first, op_type="Erf", node=b"", shapes=(net.shape(first),))
    network = net.network(net.conv(middle, 32))
    result = run(network, range(1), range(2, 3), idle_ms=1000)
    assert [layer.engine for layer in result.layers] == ["hta", "cpu", "hta"]
    assert names(result).count("rpc_invoke") == 2
    assert names(result).count("hta_wake") == 1


def test_power_collapse_can_be_switched_off() -> None:
    network = three()
    workload = Workload.single(on_hta(network), idle_ms=4)
    cold = simulate(workload, CHIP, STACK)
    held = simulate(workload, CHIP, STACK.without_power_collapse())
    wakes = {o.name: o.duration_ps for o in cold.overheads if o.name.endswith("_wake")}
    assert set(wakes) == {"dsp_wake", "hta_wake"}
    assert cold.total_ps - held.total_ps == sum(wakes.values())


def test_two_networks_take_turns_on_the_engine_and_hvx_is_free_meanwhile() -> None:
    net = Sketch((1, 56, 56, 64))
    heavy = net.network(net.conv(net.conv("in", 512, 3), 512, 3))
    on_engine, on_hvx = Job(on_hta(heavy)), Job(plan(three(), "aip"))
    together = simulate(Workload((on_engine, on_engine, on_hvx)), CHIP, STACK)
    alone = simulate(Workload((on_hvx,)), CHIP, STACK)
    first, second, _ = (sum(layer.duration_ps for layer in i.layers) for i in together.inferences)
    assert min(first, second) > 1.3 * sum(
        layer.duration_ps
        for layer in simulate(Workload((on_engine,)), CHIP, STACK).inferences[0].layers
    )
    other = next(inference for inference in together.inferences if inference.job == 2)
    engine = [s for s in together.timeline.spans if s.track == "hta array"]
    assert max(span.t1_ps for span in engine) > other.end_ps
    assert other.total_ps - alone.total_ps < sum(s.t1_ps - s.t0_ps for s in engine) / 2
    for before, after in pairwise(sorted(engine, key=lambda span: span.t0_ps)):
        assert before.t1_ps <= after.t0_ps


@examples(30)
@given(networks(), st.data())
def test_every_picosecond_is_charged_once(network: Network, data: st.DataObject) -> None:
    count = len(network.layers)
    ends = sorted(data.draw(st.sets(st.integers(0, count), min_size=2, max_size=4), "ends"))
    sections = [range(a, b) for a, b in pairwise(ends)][::2]
    result = run(network, *sections, buffer=data.draw(st.sampled_from(["float", "tf8"])))
    charges = sorted(
        [(c.start_ps, c.start_ps + c.duration_ps) for c in (*result.layers, *result.overheads)]
    )
    assert sum(end - start for start, end in charges) == result.total_ps
    for before, after in pairwise(charges):
        assert before[1] <= after[0]
    assert [layer.name for layer in result.layers] == [layer.name for layer in network.layers]
    for layer in result.layers:
        assert sum(layer.parts_ps.values()) == pytest.approx(layer.duration_ps, abs=4)
    for track in result.timeline.tracks:
        spans = [span for span in result.timeline.spans if span.track == track]
        assert all(a.t1_ps <= b.t0_ps for a, b in pairwise(spans))
    on_dsp = [layer for layer in result.layers if layer.engine != "cpu"]
    for side in ("read", "write"):
        field = f"ddr_{side}_bytes"
        moved = sum(getattr(charge, field) for charge in (*on_dsp, *result.overheads))
        assert moved == result.counters[f"dsp_{field}"]


def test_rows_of_a_fully_connected_layer_are_calls_of_their_own_where_the_release_says_so() -> None:
    """QNN 2.45 on sd865: (1024 - 1) times 92 us, 268 us, 149 us and 30 us (measured: 637 ms)."""
    net = Sketch((1024, 64))
    chip, release = chips.load("sd865"), stacks.load("qnn-2.45")
    network = net.network(net.dense("in", 16))
    job = Job(on_hta(network, range(1)), perf_profile="default")
    charged = {o.name: o.duration_ps for o in simulate(Workload((job,)), chip, release).overheads}
    start_s = release.dispatch.inference_clk / chip.dsp.clock_hz("turbo")
    assert charged["hta_rows"] == pytest.approx(1023 * (92e-6 + start_s + 149e-6 + 30e-6) * 1e12)
    assert "hta_rows" not in {o.name for o in simulate(Workload((job,)), CHIP, STACK).overheads}
