from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network
from hexsim.hta.array import MacArray
from hexsim.hta.compiler import compile_subnet, resident_on_chip
from hexsim.hta.layout import tensor_bytes
from hexsim.layers import Reshape
from hexsim.planning.plan import PlannedSubnet
from tests.hta.shapes import HTA, engine, on_hta
from tests.small_networks import Sketch, networks
from tests.thorough import examples

KB = 1024


@examples(60)
@given(networks(), st.sampled_from([4 * KB, 64 * KB, 1024 * KB]))
def test_a_command_list_moves_at_least_what_it_must(network: Network, local_bytes: int) -> None:
    (subnet,) = on_hta(network).subnets
    hta = engine(local_bytes=local_bytes)
    command_list = compile_subnet(subnet, "sd855", hta)
    peak = MacArray.of(hta).macs_per_clk
    for call, part in zip(subnet.calls, command_list.layers, strict=True):
        assert part.clocks >= part.array_clocks
        assert part.array_clocks * peak >= call.macs
        assert all(min(c.read_bytes, c.clocks, c.write_bytes) >= 0 for c in part.commands)
    outputs = sum(tensor_bytes(shape, 8) for shape in subnet.output_shapes)
    assert sum(part.write_bytes for part in command_list.layers) >= outputs


@examples(60)
@given(networks(), st.sampled_from([4 * KB, 64 * KB, 1024 * KB]))
def test_nothing_is_read_before_it_is_written_back(network: Network, local_bytes: int) -> None:
    (subnet,) = on_hta(network).subnets
    command_list = compile_subnet(subnet, "sd855", engine(local_bytes=local_bytes))
    writers = {n: at for at, layer in enumerate(subnet.layers) for n in layer.outputs}
    for at, (layer, part) in enumerate(zip(subnet.layers, command_list.layers, strict=True)):
        waited = {command.after_layer for command in part.commands}
        assert max(waited, default=-1) < at
        from_ddr = [writers[n] for n in layer.inputs if writes_to_ddr(command_list, writers, n)]
        if part.read_bytes and from_ddr and layer.type != "convolutional":
            assert max(from_ddr) in waited


def writes_to_ddr(command_list: object, writers: dict[str, int], name: str) -> bool:
    return name in writers and command_list.layers[writers[name]].write_bytes > 0  # type: ignore[attr-defined]


def test_an_inner_tensor_that_fits_never_visits_ddr() -> None:
    net = Sketch((1, 32, 32, 32))
    inner = net.conv("in", 32)
    (subnet,) = on_hta(net.network(net.conv(inner, 64))).subnets
    command_list = compile_subnet(subnet, "sd855", HTA)
    first, second = command_list.layers
    assert first.write_bytes == 0
    assert second.read_bytes == 64 * (32 + 4)
    assert {c.after_layer for c in second.commands} == {-1}
    small = compile_subnet(subnet, "sd855", engine(local_bytes=32 * KB))
    assert small.layers[0].write_bytes == tensor_bytes(net.shape(inner), 8)
    assert 0 in {c.after_layer for c in small.layers[1].commands}


def test_images_of_few_channels_have_the_layout_of_all() -> None:
    net = Sketch((1, 20, 20, 3))
    (subnet,) = on_hta(net.network(net.conv("in", 32))).subnets
    weights = 32 * (3 + 4)
    stored = compile_subnet(subnet, "sd855", HTA)
    assert stored.layers[0].read_bytes - weights == tensor_bytes((1, 20, 20, 3), 8)


def test_an_image_one_pixel_wide_costs_the_same_however_it_is_turned() -> None:
    lists = []
    for size in ((24, 1), (1, 24)):
        net = Sketch((1, *size, 64))
        (subnet,) = on_hta(net.network(net.conv("in", 32))).subnets
        lists.append(compile_subnet(subnet, "sd855", HTA))
    assert lists[0] == lists[1]


def test_a_reshape_of_what_stays_is_no_command() -> None:
    net = Sketch((1, 4, 4, 32))
    inner = net.add(Reshape, net.conv("in", 32), shape=(1, 512))
    (subnet,) = on_hta(net.network(net.dense(inner, 10))).subnets
    command_list = compile_subnet(subnet, "sd855", HTA)
    assert command_list.layers[1].commands == ()


def test_a_layer_without_weights_is_streamed_in_pieces_that_add_up() -> None:
    net = Sketch((1, 64, 64, 64))
    (subnet,) = on_hta(net.network(net.pool("in"))).subnets
    (part,) = compile_subnet(subnet, "sd855", engine(local_bytes=256 * KB)).layers
    size = tensor_bytes((1, 64, 64, 64), 8)
    assert (part.read_bytes, part.write_bytes, part.array_clocks) == (size, size, 0)
    assert len(part.commands) == math.ceil(2 * size / (64 * KB))
    assert part.clocks == MacArray.of(HTA).stage_clocks(size * 10)  # nine taps and a result


def alive(subnet: PlannedSubnet, step: int) -> set[str]:
    """Tensors that exist while call `step` runs: written by now, read now or later."""
    written = {n for call in subnet.calls[: step + 1] for n in call.layer.outputs}
    return {
        n for call in subnet.calls[step:] for n in (*call.layer.inputs, *call.layer.outputs)
    } & (written)


@given(networks(), st.sampled_from([0, 1 * KB, 8 * KB, 64 * KB, 1024 * KB]))
def test_what_is_kept_never_exceeds_the_memory(network: Network, capacity: int) -> None:
    (subnet,) = on_hta(network).subnets
    kept = resident_on_chip(subnet, capacity)
    assert kept.isdisjoint({*subnet.inputs, *subnet.outputs})
    sizes = {
        name: tensor_bytes(network.shape(name), subnet.bits[name])
        for call in subnet.calls
        for name in call.layer.outputs
    }
    for step in range(len(subnet.calls)):
        assert sum(sizes[name] for name in alive(subnet, step) & kept) <= capacity


def test_everything_inside_is_kept_if_there_is_room_and_nothing_without() -> None:
    net = Sketch((1, 16, 16, 32))
    inner = net.conv("in", 32)
    network = net.network(net.conv(inner, 32))
    (subnet,) = on_hta(network).subnets
    assert resident_on_chip(subnet, 8 * KB) == {inner}
    assert resident_on_chip(subnet, 8 * KB - 1) == frozenset()
