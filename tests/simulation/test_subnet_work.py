from __future__ import annotations

from dataclasses import replace

from hexsim.datasheets import chips, stacks
from hexsim.graph.ir import Network
from hexsim.hta.layout import flat_bytes, tensor_bytes
from hexsim.planning.joined import JoinedSubnets, joined_subnets
from hexsim.simulation.dsp_work import DspWork
from hexsim.simulation.hta_work import HtaWork
from hexsim.simulation.phone import Phone
from hexsim.simulation.subnet_work import subnet_works
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, plan


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


def test_every_tensor_at_the_edges_is_known_by_its_bytes() -> None:
    network, _ = chain()
    (alone,) = works(network, range(3))
    assert isinstance(alone, HtaWork)
    assert alone.edge_bytes == (16 * 16 * 32, 16 * 16 * 40)


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
