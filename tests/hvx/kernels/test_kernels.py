"""What holds for the kernel of every layer type."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network
from hexsim.graph.network_ends import InputFormat
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, kernel_streams, node_work
from hexsim.hvx.kernels.images import pooling_loops
from hexsim.hvx.layout import tensor_sizes
from hexsim.hvx.streams import listed
from hexsim.layers import (
    AxisSlice,
    BatchNorm,
    ChannelShuffle,
    ColourConversion,
    Concat,
    Elementwise,
    LocalResponseNorm,
    Neuron,
    Opaque,
    Pad,
    Permute,
    Prelu,
    Reshape,
    Softmax,
    StridedSlice,
)
from hexsim.layers.images import CONVERTED, ConvertedEncoding, encoded_shape
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork
from tests.small_networks import Sketch, networks, only_call, plan
from tests.thorough import examples

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)
SHAPE = (1, 16, 16, 64)
VECTORS = 16 * 4 * 2
NONE = Traffic()


def work_of(net: Sketch, output: str, traffic: Traffic = NONE) -> NodeWork:
    return node_work(only_call(net, output), TARGET, traffic)


def slots(work: NodeWork) -> int:
    return sum(item.packets + item.stalls for item in work.items)


def test_costs_per_vector_are_those_of_the_streams() -> None:
    net = Sketch(SHAPE)
    add = net.add(Elementwise, "in", "in", kind="sum")
    clamp = net.add(Neuron, "in", function="clamp")
    prelu = net.add(Prelu, "in", slope=net.weight((64,)))
    norm = net.add(LocalResponseNorm, "in", size=5, alpha=1.0, beta=0.75, bias=1.0)
    padded = 16 * 2 * 5  # rows of two slices have a vector of padding on the left
    around = {add: 4 * 32 + 75 * 4}
    for output in (add, clamp, prelu, norm):
        (kernel,) = kernel_streams(only_call(net, output), TARGET)
        loops = kernel.cost.tile * padded + kernel.cost.row * 32
        assert slots(work_of(net, output)) == loops + around.get(output, 0)
    assert work_of(net, add).packets == 6 * padded + 32 + around[add]
    assert work_of(net, clamp).packets == padded
    assert work_of(net, norm).packets < slots(work_of(net, norm))


def test_a_norm_has_no_more_neighbours_than_channels() -> None:
    net = Sketch((1, 4, 4, 8))
    sizes = (15, 17, 2**31 - 1)
    norms = [
        net.add(LocalResponseNorm, "in", size=size, alpha=1.0, beta=0.75, bias=1.0)
        for size in sizes
    ]
    all_neighbours, more, most = (work_of(net, output) for output in norms)
    assert all_neighbours == more == most


@pytest.mark.parametrize(
    ("kernel", "stride", "loop", "rows_at_once", "padding", "around"),
    [
        (3, 2, "max_3x3_s2", 2, 0, 12),
        (3, 1, "max_3x3_s1", 2, 4, 13),
        (2, 2, "max_2x2_s2", 1, 4, 6),
    ],
)
def test_max_pool_loops(
    kernel: int,
    stride: int,
    loop: str,
    rows_at_once: int,
    padding: int,
    around: int,
) -> None:
    """`around` packets are around the loop of each row of a slice, and 60 in each of four jobs."""
    net = Sketch((1, 33, 33, 64))
    out = net.pool("in", "max", kernel, stride)
    _, height, width, _ = net.shape(out)
    cost = listed(loop, V66).cost
    rows = -(-height // rows_at_once)
    tiles = -(-(width + padding) // 4)
    work = work_of(net, out)
    assert slots(work) == rows * 2 * (cost.tile * tiles + around) + 60 * len(list(work.items))


def test_another_max_pool_takes_every_input_row_and_every_output_row() -> None:
    net = Sketch((1, 33, 33, 64))
    out = net.pool("in", "max", 5, 2)
    _, height, width, _ = net.shape(out)
    across, down = (kernel.cost.tile for kernel in pooling_loops(V66, "max", (5, 5), (2, 2)))
    halves = -(-33 * -(-width // 2) // height)
    work = work_of(net, out)
    of_row = halves * across + -(-width // 4) * down
    assert slots(work) == height * 2 * of_row + 60 * len(list(work.items))


def test_a_global_pool_is_cut_by_sheets() -> None:
    net = Sketch((1, 7, 7, 1024))
    work = work_of(net, net.pool("in", "average", 7, 7))
    (stage,) = work.stages
    assert stage.jobs == 4


def test_depthwise_three_by_three_is_vector_code() -> None:
    """The loop computes 28 pixels and the three of padding that its first window does not read."""
    net = Sketch((1, 28, 28, 144))
    fast = work_of(net, net.depthwise("in"))
    assert fast.packets == 28 * (5 * (26 * 8 + 7) + 42) + 4 * 300
    assert fast.main_packets == 1137 + 5 * 616
    assert fast.cost_model == "kernel"


def test_a_grouped_convolution_is_slices_convolutions_and_a_concat() -> None:
    net = Sketch((1, 27, 27, 96))
    work = work_of(net, net.conv("in", 256, 5, groups=2))
    dense = Sketch((1, 27, 27, 48))
    single = work_of(dense, dense.conv("in", 128, 5))
    assert work.nodes == 5
    assert len(work.stages) == 4
    assert work.packets > 2 * single.packets
    assert work.read_bytes == 2 * single.read_bytes


def test_fully_connected_streams_its_weights_in_groups() -> None:
    net = Sketch((1, 6, 6, 256))
    work = work_of(net, net.dense("in", 4096), Traffic(1000, 500))
    _, matrix = work.stages
    assert len(matrix.slices) == 64  # two slices of 288 KB reach the 384 KB of a group
    assert matrix.buffers == 64
    assert work.read_bytes == 1000 + 128 * 32 * (9216 + 4)
    assert work.write_bytes == 500


def test_a_batch_shares_the_weights_of_a_fully_connected_layer() -> None:
    item, eight = Sketch((1, 1024)), Sketch((8, 1024))
    single, batch = work_of(item, item.dense("in", 96)), work_of(eight, eight.dense("in", 96))
    assert batch.read_bytes == single.read_bytes
    # Two rows share each load of weights, beside what every row has of its own.
    _, products, _ = batch.stages
    packets = sum(item.packets for item in products.items)
    assert 4 * single.packets < packets < 0.6 * 8 * single.packets
    assert products.jobs == 4, "each worker has two rows"


def test_rows_of_a_fully_connected_layer_leave_d32_and_return_to_it() -> None:
    """As those of a product of two activations do; one row is flat."""
    rows, row = Sketch((8, 1024)), Sketch((1, 1024))
    many = work_of(rows, rows.dense("in", 96), Traffic(1000, 500))
    assert many.nodes == len(many.stages) == 3
    assert work_of(row, row.dense("in", 96)).nodes == 1
    assert many.stages[0].slices[0].read_bytes == 1000
    assert many.stages[-1].slices[-1].write_bytes == 500


@pytest.mark.parametrize("l2_bytes", [1 << 20, 1 << 16])
def test_rows_one_after_another_read_the_weights_once(l2_bytes: int) -> None:
    item, eight = Sketch((1, 1024)), Sketch((8, 1024))
    target = dataclasses.replace(TARGET, each_row=True, l2_bytes=l2_bytes)
    single = node_work(only_call(item, item.dense("in", 96)), target, NONE)
    batch = node_work(only_call(eight, eight.dense("in", 96)), target, NONE)
    _, *products, _ = batch.stages
    assert len(products) == 8
    packets = sum(item.packets for stage in products for item in stage.items)
    assert packets == 8 * single.packets
    assert batch.read_bytes == single.read_bytes


def test_a_softmax_in_scalar_code_takes_packets_of_the_main_thread_for_every_element() -> None:
    net = Sketch((1, 4, 6, 40))
    scalar = dataclasses.replace(TARGET, softmax_packets=10)
    call = only_call(net, net.add(Softmax, "in", axes=(3,)))
    work = node_work(call, scalar, Traffic(1000, 2000))
    assert work.main_packets == 10 * 4 * 6 * 40
    assert (work.packets, work.read_bytes, work.write_bytes) == (0, 1000, 2000)
    assert node_work(call, TARGET, NONE).main_packets == 0


def test_softmax_and_layout_changes_run_on_two_threads_at_most() -> None:
    net = Sketch(SHAPE)
    norm = net.add(BatchNorm, "in", scale=net.weight((64,)), shift=net.weight((64,)))
    for output, model in (
        (net.add(Softmax, "in", axes=(3,)), "kernel"),
        (net.add(Permute, "in", permutation=(0, 2, 1, 3)), "kernel"),
        (net.add(ChannelShuffle, "in", groups=2), "kernel"),
        (norm, "kernel"),
    ):
        work = work_of(net, output)
        assert max(stage.threads for stage in work.stages) == 2
        assert work.cost_model == model


def test_a_reshape_of_an_image_leaves_d32_and_a_flat_one_copies() -> None:
    net = Sketch(SHAPE)
    flat = net.add(Reshape, "in", shape=(1, 16 * 16 * 64))
    again = net.add(Reshape, flat, shape=(1, 64, 256))
    assert work_of(net, flat).packets > work_of(net, again).packets / 2 > 0
    assert len(work_of(net, flat).stages) == 1


def test_concat_rescales_every_vector_of_its_inputs() -> None:
    net = Sketch(SHAPE)
    out = net.add(Concat, "in", "in", axis=3)
    work = work_of(net, out)
    cost = listed("rescale", V66).cost
    assert slots(work) == 2 * (cost.tile * VECTORS + 16 * cost.row) + 2 * 60


def test_a_slice_of_whole_vectors_is_copied_and_others_are_out_of_neighbours() -> None:
    net = Sketch(SHAPE)
    for part, sources in (
        (AxisSlice(3, 32, 64), 1),
        (AxisSlice(1, 3, 9, 2), 1),
        (AxisSlice(2, 4, 16), 1),
        (AxisSlice(3, 16, 48), 2),
        (AxisSlice(2, 1, 5), 2),
        (AxisSlice(3, 0, 64, 2), 2),
        (AxisSlice(2, 0, 16, 5), 5),
    ):
        out = net.add(StridedSlice, "in", parts=(part,))
        loop = listed("copy", V66) if sources == 1 else listed("networks", V66, sources)
        assert work_of(net, out).cost_model == "kernel"
        assert kernel_streams(only_call(net, out), TARGET) == (loop,)


def test_padding_in_front_of_a_vector_shifts_what_is_in_it() -> None:
    net = Sketch(SHAPE)
    for begins, loop in (
        ((0, 1, 0, 0), listed("copy", V66)),
        ((0, 1, 4, 32), listed("copy", V66)),
        ((0, 0, 1, 0), listed("networks", V66, 2)),
        ((0, 0, 0, 1), listed("networks", V66, 2)),
    ):
        out = net.add(Pad, "in", begins=begins, ends=(0, 1, 1, 0))
        assert kernel_streams(only_call(net, out), TARGET) == (loop,)


def test_an_unknown_layer_gets_the_generic_cost() -> None:
    net = Sketch(SHAPE)
    known = only_call(net, net.add(Neuron, "in", function="clamp"))
    opaque = Opaque(
        name="o", inputs=("in",), outputs=("x",), op_type="Erf", node=b"", shapes=(SHAPE,)
    )
    work = node_work(dataclasses.replace(known, layer=opaque), TARGET, Traffic(10, 20))
    assert work.cost_model == "generic"
    assert work.packets == 8 * 2 * VECTORS
    assert (work.read_bytes, work.write_bytes) == (10, 20)


@examples(100)
@given(networks(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_no_kernel_loses_traffic_or_work(network: Network, read: int, write: int) -> None:
    for subnet in plan(network).subnets:
        if subnet.engine != "hvx":
            continue
        for call in subnet.calls:
            work = node_work(call, TARGET, Traffic(read, write))
            assert work.read_bytes >= read + call.parameter_bytes
            assert work.write_bytes == write
            assert work.packets > 0
            assert all(i.packets >= i.scalar_fed and i.stalls >= 0 for i in work.items)
            assert kernel_streams(call, TARGET)
            assert sum(stage.jobs for stage in work.stages) < 400


@pytest.mark.parametrize("encoding", CONVERTED)
def test_a_colour_conversion_costs_its_streams_and_stays_flat(encoding: ConvertedEncoding) -> None:
    net = Sketch(encoded_shape(encoding, (1, 8, 256, 3)))
    picture = net.add(ColourConversion, "in", input_encoding_in=encoding, input_encoding_out="bgr")
    formats = {"in": InputFormat("image", encoding)}
    (subnet,) = plan(dataclasses.replace(net.network(picture), input_formats=formats)).subnets
    (call,) = subnet.calls
    costs = [kernel.cost for kernel in kernel_streams(call, TARGET)]
    tiles = [-(-256 // cost.pixels) for cost in costs]
    expected = 8 * sum(c.tile * n + c.row for c, n in zip(costs, tiles, strict=True))
    work = node_work(call, TARGET, NONE)
    assert (slots(work), work.cost_model) == (expected, "kernel")
    assert tensor_sizes(subnet)[picture] == 8 * 256 * 3


def test_products_have_a_loop_and_other_pairs_take_that_of_sums() -> None:
    net = Sketch(SHAPE)
    names = {
        kind: kernel_streams(only_call(net, net.add(Elementwise, "in", "in", kind=kind)), TARGET)
        for kind in ("sum", "sub", "max", "product")
    }
    assert names["sum"] == names["sub"] == names["max"] == (listed("add", V66),)
    assert names["product"] == (listed("multiply", V66),)


@examples(30)
@given(networks())
def test_more_pipes_never_cost_packets_and_fewer_never_save_them(network: Network) -> None:
    poor = dataclasses.replace(TARGET, machine=HvxMachine(66, multiply_pipes=1))
    rich = dataclasses.replace(TARGET, machine=HvxMachine(66, permute_pipes=2, load_ports=2))
    for subnet in plan(network).subnets:
        for call in subnet.calls if subnet.engine == "hvx" else ():
            now, less, more = (slots(node_work(call, t, NONE)) for t in (TARGET, poor, rich))
            assert less >= 0.99 * now  # a search may find the better of two schedules by luck
            assert more <= 1.01 * now


@pytest.mark.parametrize("version", [60, 62])
def test_one_multiply_pipe_doubles_a_convolution_layer(version: int) -> None:
    net = Sketch((1, 28, 28, 256))
    call = only_call(net, net.conv("in", 256, 3))
    two, one_pipe = (
        slots(node_work(call, Target(HvxMachine(version, multiply_pipes=n), 2, 1 << 18, 0), NONE))
        for n in (2, 1)
    )
    assert one_pipe == pytest.approx(2 * two, rel=0.03)
