from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.graph.ir import Network
from hexsim.hta.layout import flat_bytes, tensor_bytes
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target
from hexsim.hvx.layout import tensor_sizes
from hexsim.planning.plan import JoinedSubnets, joined_subnets
from hexsim.simulation.phone import Phone
from hexsim.simulation.subnet_work import DspWork, HtaWork, dsp_work, subnet_works
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples


def works(
    network: Network, *sections: range, inputs_in_l2: bool = True
) -> tuple[DspWork | HtaWork, ...]:
    stack = stacks.load("snpe-1.30")
    phone = Phone(chips.load("sd855"), stack, [stack.profile()])
    (together,) = joined_subnets(on_hta(network, *sections))
    return subnet_works(together, phone, inputs_in_l2=inputs_in_l2)


def names(edges: tuple) -> list[str]:
    return [name for name, _ in edges]


def chain(channels: int = 32, layers: int = 3) -> tuple[Network, list[str]]:
    net = Sketch((1, 16, 16, channels))
    tensors = ["in"]
    for _ in range(layers):
        tensors.append(net.conv(tensors[-1], 40))
    return net.network(tensors[-1]), tensors


def test_hvx_converts_between_the_layouts_of_the_engines() -> None:
    network, (source, a, b, c) = chain()
    first, middle, last = works(network, range(1, 2))
    assert isinstance(middle, HtaWork)
    assert (names(first.input_conversions), names(first.output_conversions)) == (
        [f"to_d32 {source}"],
        [f"to_hta {a}"],
    )
    assert (names(middle.input_conversions), names(middle.output_conversions)) == ([], [])
    assert (names(last.input_conversions), names(last.output_conversions)) == (
        [f"to_d32 {b}"],
        [f"from_d32 {c}"],
    )
    ((_, handed),) = first.output_conversions
    assert handed.write_bytes == tensor_bytes((1, 16, 16, 40), 8)
    ((_, taken),) = last.input_conversions
    assert taken.read_bytes == flat_bytes((1, 16, 16, 40), 8)


def test_the_application_sees_flat_tensors_only() -> None:
    network, (source, _, _, c) = chain()
    (alone,) = works(network, range(3))
    assert (names(alone.input_conversions), names(alone.output_conversions)) == (
        [f"to_hta {source}"],
        [f"from_hta {c}"],
    )
    ((_, entering),), ((_, leaving),) = alone.input_conversions, alone.output_conversions
    assert (entering.read_bytes, entering.write_bytes) == (0, 16 * 16 * 32)
    assert leaving.read_bytes == tensor_bytes((1, 16, 16, 40), 8)
    (cold,) = works(network, range(3), inputs_in_l2=False)
    assert cold.input_conversions[0][1].read_bytes == 16 * 16 * 32


def test_images_of_few_channels_change_layout_too() -> None:
    for channels in (1, 3, 16):
        network, _ = chain(channels=channels)
        (alone,) = works(network, range(3))
        assert names(alone.input_conversions) == ["to_hta in"]


def test_every_tensor_at_the_edges_is_known_by_its_padded_bytes() -> None:
    network, _ = chain()
    (alone,) = works(network, range(3))
    assert isinstance(alone, HtaWork)
    assert alone.edge_bytes == (16 * 16 * 32, 16 * 16 * 64)


def test_neighbouring_sections_convert_nothing_between_them() -> None:
    network, _ = chain()
    first, second = works(network, range(2), range(2, 3))
    assert (first.output_conversions, second.input_conversions) == ((), ())


def test_a_tensor_that_both_engines_read_exists_in_both_layouts() -> None:
    net = Sketch((1, 16, 16, 32))
    a = net.conv("in", 32)
    left = net.conv(a, 40)
    right = net.conv(a, 40)
    network = net.network(left, right)
    first, _, last = works(network, range(1, 2))
    assert names(first.output_conversions) == [f"from_d32 {a}", f"to_hta {a}"]
    assert names(last.input_conversions) == [f"to_d32 {a}"]


def test_codes_that_crossed_as_such_are_in_ddr() -> None:
    net = Sketch((1, 32, 32, 3))
    network = net.network(net.conv("in", 32, 3))
    (subnet,) = plan(network).subnets
    stack = stacks.load("snpe-1.23")
    phone = Phone(chips.load("sd835"), stack, [stack.profile()])

    def read_bytes(*as_codes: str, inputs_in_l2: bool = True) -> int:
        changed = replace(subnet, as_codes=frozenset(as_codes))
        together = JoinedSubnets.of(network, (changed,))
        (work,) = subnet_works(together, phone, inputs_in_l2=inputs_in_l2)
        return sum(call.read_bytes for call in work.calls)  # type: ignore[union-attr]

    assert read_bytes("in") - read_bytes() == 32 * 32 * 3
    assert read_bytes("in") == read_bytes(inputs_in_l2=False)


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
