from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from hexsim.datasheets.chips import Hta
from hexsim.graph.ir import Network
from hexsim.hta.array import MacArray
from hexsim.hta.command_list import Command, CommandList, LayerCommands
from hexsim.hta.compiler import compile_subnet
from hexsim.hta.engine import ARRAY, FETCH, WRITE_BACK, EngineRule, LayerRun, TensorEngine
from hexsim.timing.memory import Ddr, DdrRule
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.results import Span, Timeline
from hexsim.timing.simtime import Environment, Process
from tests.hta.shapes import engine, on_hta
from tests.small_networks import networks
from tests.thorough import examples

HTA = engine(ddr_port_bytes_per_clk=16, command_clk=0)
CLK = PS_PER_SECOND // 10**9


class Bench:
    """An engine of 1 GHz with a 16 GB/s port on a DDR of its own."""

    def __init__(
        self, bytes_per_second: float = 100e9, hta: Hta = HTA, layer_s: float = 0.0
    ) -> None:
        self.env = Environment()
        self.spans: list[Span] = []
        self.ddr = Ddr(self.env, DdrRule(bytes_per_second, 100e-9, 4096))
        rule = EngineRule(clock_hz=1e9, layer_s=layer_s)
        self.engine = TensorEngine(self.env, self.ddr, hta, rule, self.spans)
        self.layers: list[LayerRun] = []

    def run(self, command_list: CommandList) -> int:
        self.env.run(self.env.process(self.engine.run(command_list, self.layers.append)))
        return self.env.now

    def on(self, track: str) -> list[tuple[int, int]]:
        return [(s.t0_ps // CLK, s.t1_ps // CLK) for s in self.spans if s.track == track]


def command_list(*layers: list[Command]) -> CommandList:
    parts = [
        LayerCommands(f"layer{at}", tuple(commands), sum(c.clocks for c in commands))
        for at, commands in enumerate(layers)
    ]
    return CommandList("sd855", tuple(parts))


def test_the_next_tile_is_fetched_while_the_array_works() -> None:
    bench = Bench()
    assert bench.run(command_list([Command(1600, 100, 0)] * 3)) == 400 * CLK
    assert bench.on(FETCH) == [(0, 100), (100, 200), (200, 300)]
    assert bench.on(ARRAY) == [(100, 200), (200, 300), (300, 400)]


def test_a_third_tile_waits_for_a_buffer() -> None:
    bench = Bench()
    bench.run(command_list([Command(160, 100, 0)] * 3))
    assert bench.on(FETCH) == [(0, 10), (10, 20), (110, 120)]


def test_fetching_goes_on_across_layers_but_not_past_what_is_being_written() -> None:
    free, waiting = Bench(), Bench()
    first = [Command(160, 100, 1600)]
    free.run(command_list(first, [Command(160, 100, 0)]))
    waiting.run(command_list(first, [Command(160, 100, 0, after_layer=0)]))
    assert free.on(FETCH)[1] == (10, 20)
    assert free.on(WRITE_BACK) == waiting.on(WRITE_BACK) == [(110, 210)]
    assert waiting.on(FETCH)[1] == (210, 220)


def test_the_last_layer_ends_when_its_results_are_in_ddr() -> None:
    bench = Bench()
    assert bench.run(command_list([Command(160, 100, 1600)])) == 210 * CLK
    (layer,) = bench.layers
    assert layer.end_ps == 210 * CLK
    assert layer.parts_ps == {"compute": 100 * CLK, "ddr": 110 * CLK, "overhead": 0}


def test_the_controller_starts_every_layer_that_has_commands() -> None:
    bench = Bench(layer_s=50e-9)
    assert bench.run(command_list([Command(0, 100, 0)], [], [Command(0, 100, 0)])) == 300 * CLK
    assert [layer.command_ps for layer in bench.layers] == [50 * CLK, 0, 50 * CLK]


def test_a_layer_without_commands_takes_no_time() -> None:
    bench = Bench()
    assert (
        bench.run(command_list([Command(160, 100, 0)], [], [Command(160, 100, 0, 1)])) == 210 * CLK
    )
    assert [run.end_ps - run.start_ps for run in bench.layers] == [110 * CLK, 0, 100 * CLK]


def test_decoding_commands_is_charged_as_overhead() -> None:
    bench = Bench(hta=engine(ddr_port_bytes_per_clk=16, command_clk=50))
    bench.run(command_list([Command(0, 100, 0)] * 4))
    assert bench.layers[0].parts_ps == {"compute": 400 * CLK, "ddr": 0, "overhead": 200 * CLK}


def test_another_client_takes_its_share_of_ddr() -> None:
    alone, shared = Bench(20e9), Bench(20e9)
    work = command_list([Command(16_000, 10, 0)])
    assert alone.run(work) == 1010 * CLK

    def client() -> Process:
        yield shared.ddr.read(10**9, 16e9)

    shared.env.process(client())
    assert shared.run(work) == pytest.approx(1610 * CLK)  # 10 of the 20 GB/s


def test_the_port_is_a_limit_of_its_own() -> None:
    assert Bench(20e9).run(command_list([Command(16_000, 0, 0)])) == 1000 * CLK
    assert Bench(8e9).run(command_list([Command(16_000, 0, 0)])) == 2000 * CLK


def test_lists_share_the_array_by_commands_and_the_urgent_one_goes_first() -> None:
    bench = Bench()
    order: list[str] = []

    def client(name: str, urgency: int) -> Process:
        work = command_list([Command(0, 100, 0)])
        yield from bench.engine.run(work, bench.layers.append, urgency)
        order.append(f"{name} {bench.env.now // CLK}")

    for name, urgency in (("first", 0), ("patient", 5), ("urgent", -5)):
        bench.env.process(client(name, urgency))
    bench.env.run()
    assert order == ["first 100", "urgent 200", "patient 300"]
    assert [layer.others_ps // CLK for layer in bench.layers] == [0, 100, 200]


def test_the_array_works_for_another_list_while_a_layer_is_started() -> None:
    bench = Bench(layer_s=100e-9)
    work = command_list([Command(0, 100, 0)], [Command(0, 100, 0)])
    for _ in range(2):
        bench.env.process(bench.engine.run(work, bench.layers.append))
    bench.env.run()
    assert bench.env.now == 500 * CLK  # 400 for one; the other one is half a layer behind
    for run in bench.layers:
        assert sum(run.parts_ps.values()) == run.end_ps - run.start_ps


def test_lists_share_the_port() -> None:
    bench = Bench()
    for _ in range(2):
        work = command_list([Command(1600, 10, 0)])
        bench.env.process(bench.engine.run(work, bench.layers.append))
    bench.env.run()
    assert bench.on(FETCH) == [(0, 100), (100, 200)]


@examples(40)
@given(networks())
def test_a_network_on_the_engine(network: Network) -> None:
    hta = engine()
    (subnet,) = on_hta(network).subnets
    compiled = compile_subnet(subnet, "sd855", hta)
    bench = Bench(20e9, hta)
    end = bench.run(compiled)
    # layers follow one another without a gap, and every picosecond has a cause
    assert [run.part for run in bench.layers] == list(compiled.layers)
    assert bench.layers[0].start_ps == 0
    assert bench.layers[-1].end_ps == end
    for before, after in pairwise(bench.layers):
        assert before.end_ps == after.start_ps
    for run in bench.layers:
        assert min(run.parts_ps.values()) >= 0
        assert sum(run.parts_ps.values()) == run.end_ps - run.start_ps
    # no track is in two places at once; busy and idle are the total
    timeline = Timeline(tuple(bench.spans), end)
    for track in timeline.tracks:
        spans = [span for span in bench.spans if span.track == track]
        assert all(a.t1_ps <= b.t0_ps for a, b in pairwise(spans))
        assert timeline.busy_ps(track) + timeline.idle_ps(track) == end
        assert timeline.idle_ps(track) >= 0
    # nothing is faster than peak or port
    peak = MacArray.of(hta).macs_per_clk * bench.engine.clock_hz
    macs = sum(call.macs for call in subnet.calls)
    assert end >= macs / peak * PS_PER_SECOND
    read = sum(part.read_bytes for part in compiled.layers)
    wrote = sum(part.write_bytes for part in compiled.layers)
    assert (bench.ddr.moved.read_bytes, bench.ddr.moved.write_bytes) == (read, wrote)
    port = hta.ddr_port_bytes_per_clk * bench.engine.clock_hz
    assert end >= max(read, wrote) / port * PS_PER_SECOND * (1 - 1e-6)
