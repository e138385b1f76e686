"""16-bit activations: derived where streams exist, twice the 8-bit cost and generic elsewhere."""

from __future__ import annotations

import dataclasses

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, kernel_streams, node_work
from hexsim.hvx.streams import convolution, listed, sixteen_bit
from hexsim.hvx.streams._kernel import Kernel
from hexsim.layers import (
    Concat,
    Convert,
    Elementwise,
    LocalResponseNorm,
    Neuron,
    Softmax,
)
from hexsim.planning.plan import KernelCall
from hexsim.studies.probes import kernel_call
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork
from tests.small_networks import Sketch, only_call

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)
SHAPE = (1, 16, 16, 64)


def _call(make: str, *, bits: int) -> KernelCall:
    net = Sketch(SHAPE)
    made = {
        "conv": lambda: net.conv("in", 64, 3),
        "first layer": lambda: net.conv("in", 64, 3),
        "grouped": lambda: net.conv("in", 64, 3, groups=2),
        "stride 3": lambda: net.conv("in", 64, 3, stride=3),
        "depthwise": lambda: net.depthwise("in"),
        "dense": lambda: net.dense("in", 10),
        "sum": lambda: net.add(Elementwise, "in", "in", kind="sum"),
        "product": lambda: net.add(Elementwise, "in", "in", kind="product"),
        "concat": lambda: net.add(Concat, "in", "in", axis=3),
        "clamp": lambda: net.add(Neuron, "in", function="clamp"),
        "tanh": lambda: net.add(Neuron, "in", function="tanh"),
        "pool": lambda: net.pool("in"),
        "softmax": lambda: net.add(Softmax, "in", axes=(3,)),
        "lrn": lambda: net.add(
            LocalResponseNorm, "in", size=5, alpha=1.0, beta=0.75, bias=1.0
        ),
    }  # fmt: skip
    return dataclasses.replace(only_call(net, made[make]()), activation_bits=bits)


def _both(make: str, target: Target = TARGET) -> tuple[NodeWork, NodeWork]:
    narrow, wide = (node_work(_call(make, bits=bits), target, Traffic()) for bits in (8, 16))
    return narrow, wide


@pytest.mark.parametrize("make", ["depthwise", "tanh", "pool", "softmax", "lrn", "stride 3"])
def test_without_streams_twice_and_generic(make: str) -> None:
    narrow, wide = _both(make)
    assert wide.packets == 2 * narrow.packets
    assert wide.l2_bytes == 2 * narrow.l2_bytes
    assert wide.cost_model == "generic"


@pytest.mark.parametrize("make", ["conv", "grouped", "dense", "sum", "product", "concat", "clamp"])
def test_with_streams_the_cost_is_the_kernels(make: str) -> None:
    narrow, wide = _both(make)
    assert wide.cost_model == "kernel"
    assert narrow.packets <= wide.packets < 3 * narrow.packets + 200
    names = [kernel.name for kernel in kernel_streams(_call(make, bits=16), TARGET)]
    assert any("16 bits" in name for name in names)


@pytest.mark.parametrize("version", [60, 65])
def test_older_forms_of_the_convolution_are_generic(version: int) -> None:
    target = Target(HvxMachine(version), 2, 1 << 19, 1 << 18 if version == 65 else 0)
    narrow, wide = _both("conv", target)
    assert (wide.packets, wide.cost_model) == (2 * narrow.packets, "generic")


def test_weights_are_read_once_however_wide_activations_are() -> None:
    for make in ("conv", "dense"):
        narrow, wide = _both(make)
        assert narrow.read_bytes == wide.read_bytes > 0


def test_converting_costs_its_loop_over_every_vector() -> None:
    net = Sketch(SHAPE)
    call = only_call(net, net.add(Convert, "in"))
    vectors = 16 * 4 * 2
    for bits, loop in ((16, "widen"), (8, "narrow")):
        to = dataclasses.replace(call, activation_bits=bits, operand_bits=24 - bits)
        (kernel,) = kernel_streams(to, TARGET)
        assert kernel is listed(loop, V66)
        work = node_work(to, TARGET, Traffic())
        row = kernel.cost.row * 2 * 16
        assert work.packets + sum(i.stalls for i in work.items) == kernel.cost.tile * vectors + row
        assert work.cost_model == "kernel"


def test_an_image_of_three_channels_is_converted_flat() -> None:
    net = Sketch((1, 64, 64, 3))
    call = dataclasses.replace(
        only_call(net, net.add(Convert, "in")), activation_bits=16, operand_bits=8
    )
    vectors = 64 * 64 * 3 // 128
    assert node_work(call, TARGET, Traffic()).packets <= 2 * vectors + 20


@pytest.mark.parametrize(("fw", "rows"), [(1, 2), (1, 16), (3, 12), (7, 1)])
def test_a_convolution_multiplies_and_reads_twice(fw: int, rows: int) -> None:
    narrow, wide = convolution.v66(V66, fw, rows), sixteen_bit.convolution(V66, fw, rows)
    assert wide.cost.macs == 2 * narrow.cost.macs
    assert wide.cost.vtcm_vectors == 2 * narrow.cost.vtcm_vectors
    assert 1.5 < wide.cost.tile / narrow.cost.tile <= 2.1


def test_a_fully_connected_layer_loads_each_weight_once() -> None:
    wide = sixteen_bit.fully_connected(V66, 1024)
    assert wide.cost.macs == 2 * 1024 * 32
    loads = 1024 * 32 // 128
    assert loads <= wide.cost.l2_vectors <= loads + 4


def test_a_product_of_matrices_multiplies_four_times_and_loads_both_planes() -> None:
    wide = sixteen_bit.product(V66, 1024)
    assert wide.cost.macs == 4 * 1024 * 32
    loads = 2 * 1024 * 32 // 128
    assert loads <= wide.cost.l2_vectors <= loads + 4


@pytest.mark.parametrize("kind", ["layer_norm", "instance_norm"])
def test_a_norm_of_halfwords_is_its_own_two_passes(kind: str) -> None:
    narrow = kernel_call(kind, "16x16x64")
    wide = dataclasses.replace(narrow, activation_bits=16)
    names = [kernel.name for kernel in kernel_streams(wide, TARGET)]
    assert names == ["normalisation: sums, 16 bits", "normalisation: scale, 16 bits"]
    narrow_work, two = (node_work(call, TARGET, Traffic(1000, 500)) for call in (narrow, wide))
    assert two.cost_model == "kernel"
    assert two.l2_bytes == 2 * narrow_work.l2_bytes
    if kind == "layer_norm":  # a norm of 8 bits by channel has a loop in 16 bits
        assert narrow_work.packets < two.packets < 2 * narrow_work.packets
    assert (two.read_bytes, two.write_bytes) == (narrow_work.read_bytes, narrow_work.write_bytes)


KERNELS: list[Kernel] = [
    *(listed(f"{name}_16bit", V66) for name in ("add", "multiply", "rescale", "clamp")),
    *(listed(name, V66) for name in ("widen", "narrow", "split")),
    sixteen_bit.convolution(V66, 3, 3),
    sixteen_bit.convolution(V66, 1, 1),
    sixteen_bit.fully_connected(V66, 256),
    sixteen_bit.product(V66, 256),
    listed("wide_sums", V66),
    listed("wide_scaled", V66),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=[kernel.name for kernel in KERNELS])
def test_every_packet_is_legal(kernel: Kernel) -> None:
    for segment in (*kernel.tile, *kernel.row, *kernel.call):
        assert all(packet.legal(V66) for packet in segment.code.packets)
        assert segment.stalls >= 0
