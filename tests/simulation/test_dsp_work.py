from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target
from hexsim.hvx.layout import tensor_sizes
from hexsim.simulation.dsp_work import dsp_work
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples

KB = 1024


def target(l2_bytes: int) -> Target:
    return Target(HvxMachine(62), 2, l2_bytes, 0)


def test_only_what_changes_its_layout_has_a_way_in_or_out() -> None:
    image = Sketch((1, 32, 32, 3))
    (subnet,) = plan(image.network(image.dense(image.conv("in", 32, 3), 10))).subnets
    work = dsp_work(subnet, target(256 * KB))
    assert (work.input_conversions, work.output_conversions) == ((), ())
    sheets = Sketch((1, 32, 32, 64))
    out = sheets.conv("in", 64)
    (subnet,) = plan(sheets.network(out)).subnets
    work = dsp_work(subnet, target(256 * KB))
    assert [name for name, _ in work.input_conversions] == ["to_d32 in"]
    assert [name for name, _ in work.output_conversions] == [f"from_d32 {out}"]


def test_the_ways_in_and_out_move_what_l2_cannot_hold() -> None:
    net = Sketch((1, 64, 64, 128))  # 512 KB, twice L2
    (subnet,) = plan(net.network(net.pool("in"))).subnets
    work = dsp_work(subnet, target(256 * KB))
    ((_, way_in),) = work.input_conversions
    ((_, way_out),) = work.output_conversions
    assert (way_in.read_bytes, way_in.write_bytes) == (0, 512 * KB)
    assert (way_out.read_bytes, way_out.write_bytes) == (512 * KB, 0)


def test_codes_that_the_cpu_left_in_ddr_are_read_once() -> None:
    image = Sketch((1, 32, 32, 3))
    (subnet,) = plan(image.network(image.conv("in", 32, 3))).subnets
    warm, cold = (dsp_work(subnet, target(256 * KB), in_ddr=names) for names in ((), ("in",)))
    assert cold.calls[0].read_bytes - warm.calls[0].read_bytes == 32 * 32 * 3
    sheets = Sketch((1, 32, 32, 40))
    (subnet,) = plan(sheets.network(sheets.conv("in", 64))).subnets
    warm, cold = (dsp_work(subnet, target(256 * KB), in_ddr=names) for names in ((), ("in",)))
    assert cold.calls == warm.calls
    ((_, way_in),) = cold.input_conversions
    assert way_in.read_bytes == 32 * 32 * 40


@examples(100)
@given(networks(), st.sampled_from([0, 64 * KB, 1024 * KB]))
def test_with_l2_for_everything_only_weights_move(network: Network, l2_bytes: int) -> None:
    for subnet in plan(network).subnets:
        if subnet.engine != "hvx":
            continue
        work = dsp_work(subnet, target(l2_bytes + 1))
        plenty = dsp_work(subnet, target(2 * sum(tensor_sizes(subnet).values()) + 10**9))
        assert not any(node.write_bytes for node in plenty.calls)
        assert not any(node.read_bytes or node.write_bytes for _, node in plenty.output_conversions)
        for call, node, most in zip(subnet.calls, plenty.calls, work.calls, strict=True):
            assert bool(node.read_bytes) == bool(call.parameters)
            assert node.read_bytes <= most.read_bytes
