from __future__ import annotations

from dataclasses import replace

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.host._layer_cost import LayerCost
from hexsim.host.cpu import layer_cost
from hexsim.layers import Neuron
from hexsim.planning.plan import KernelCall
from hexsim.timing.results import largest
from tests.small_networks import Sketch, plan

CHIP, RELEASE = chips.load("sd835"), stacks.load("snpe-1.23")
STACK = RELEASE.with_ideal_cpu()


def call(net: Sketch, output: str, runtime: str = "cpu") -> KernelCall:
    calls = plan(net.network(output), runtime).calls()  # type: ignore[arg-type]
    return next(c for c in calls if output in c.layer.outputs)


def test_a_convolution_runs_at_its_share_of_the_float_peak() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = layer_cost(call(net, net.conv("in", 64, 3)), CHIP, STACK)
    peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
    macs = 56 * 56 * 64 * 64 * 9
    assert cost.compute_s == pytest.approx(macs / peak / STACK.cpu.convolution_efficiency)
    assert largest(cost.parts_ps) == "compute"


def test_a_deconvolution_is_far_slower_than_a_convolution() -> None:
    net = Sketch((1, 28, 28, 64))
    slow = layer_cost(call(net, net.deconv("in", 64)), CHIP, STACK)
    fast = layer_cost(call(net, net.conv("in", 256)), CHIP, STACK)
    ratio = STACK.cpu.convolution_efficiency / STACK.cpu.depthwise_efficiency
    assert slow.compute_s == pytest.approx(ratio * fast.compute_s)


def test_integers_run_at_the_integer_peak_and_move_a_quarter() -> None:
    net = Sketch((1, 56, 56, 64))
    out = net.conv("in", 64, 3)
    floats, codes = (layer_cost(call(net, out, r), CHIP, STACK) for r in ("cpu", "fxp_cpu"))
    ratio = CHIP.cpu.int8_macs_per_clk / CHIP.cpu.fp32_macs_per_clk
    assert floats.compute_s == pytest.approx(ratio * codes.compute_s)
    assert floats.memory_s == pytest.approx(4 * codes.memory_s)


@pytest.mark.parametrize(
    ("activations", "weights", "passes"), [(16, 8, 2), (8, 16, 2), (16, 16, 4)]
)
def test_each_pair_of_bytes_is_a_pass(activations: int, weights: int, passes: int) -> None:
    net = Sketch((1, 56, 56, 64))
    narrow = call(net, net.conv("in", 64, 3), "fxp_cpu")
    wide = replace(narrow, activation_bits=activations, weight_bits=weights)
    cost, base = layer_cost(wide, CHIP, STACK), layer_cost(narrow, CHIP, STACK)
    assert cost.compute_s == pytest.approx(passes * base.compute_s)
    assert cost.memory_s > base.memory_s


def test_halves_are_computed_at_the_float_peak_and_move_half() -> None:
    net = Sketch((1, 56, 56, 64))
    single = call(net, net.conv("in", 64, 3))
    half = layer_cost(replace(single, activation_bits=16, weight_bits=16), CHIP, STACK)
    cost = layer_cost(single, CHIP, STACK)
    assert half.compute_s == cost.compute_s
    assert 2 * half.memory_s == pytest.approx(cost.memory_s)


def test_depthwise_and_dense_have_efficiencies_of_their_own() -> None:
    net = Sketch((1, 56, 56, 64))
    depthwise = layer_cost(call(net, net.depthwise("in")), CHIP, STACK)
    peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
    macs = 56 * 56 * 64 * 9
    assert depthwise.compute_s == pytest.approx(macs / peak / STACK.cpu.depthwise_efficiency)
    flat = Sketch((1, 4096))
    dense = layer_cost(call(flat, flat.dense("in", 4096)), CHIP, STACK)
    assert largest(dense.parts_ps) == "ddr"


def test_a_layer_without_macs_counts_its_elements() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = layer_cost(call(net, net.add(Neuron, "in", function="tanh")), CHIP, STACK)
    assert cost.compute_s > 0
    assert cost.memory_s == pytest.approx(2 * 56 * 56 * 64 * 4 / CHIP.cpu.bandwidth_bytes_per_s)


def test_a_short_layer_is_bound_by_its_start() -> None:
    cost = LayerCost(compute_s=1e-6, memory_s=2e-6, start_s=10e-6)
    assert cost.duration_ps == 12_000_000
    assert largest(cost.parts_ps) == "overhead"


def test_a_release_with_published_times_is_timed_as_its_software_was() -> None:
    net = Sketch((1, 56, 56, 64))
    dense, depthwise = net.conv("in", 64, 3), net.depthwise("in")
    software = RELEASE.cpu_software
    assert software is not None
    for name, share in (
        (dense, software.floats.convolution_efficiency),
        (depthwise, software.depthwise_efficiency),
    ):
        assert share is not None
        layer_call = call(net, name)
        peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
        assert layer_cost(layer_call, CHIP, RELEASE).compute_s == pytest.approx(
            layer_call.macs / peak / share
        )
        assert (
            layer_cost(layer_call, CHIP, RELEASE).compute_s
            > layer_cost(layer_call, CHIP, STACK).compute_s
        )


def test_what_a_release_does_not_state_of_its_software_is_as_the_cores_can() -> None:
    software = RELEASE.cpu_software
    assert software is not None
    assert software.floats.other_efficiency is software.other_efficiency is None
    assert RELEASE.cpu_efficiency("other", floats=True) == RELEASE.cpu.other_efficiency
    assert RELEASE.cpu_efficiency("other", floats=False) == software.codes.other_efficiency
    later = stacks.load("snpe-1.30")
    assert later.cpu_software is None
    assert later.cpu_efficiency("depthwise", floats=True) == later.cpu.depthwise_efficiency


def test_a_scalar_exponential_takes_one_core_some_clocks_an_element() -> None:
    net = Sketch((1, 20, 20, 256))
    sigmoid = call(net, net.add(Neuron, "in", function="sigmoid"))
    release = stacks.load("snpe-1.63")
    clk = release.cpu_function_clk(floats=True)
    assert clk is not None
    cost = layer_cost(sigmoid, CHIP, release)
    assert cost.compute_s == pytest.approx(20 * 20 * 256 * clk / CHIP.cpu.clock_hz)
    assert release.cpu_function_clk(floats=False) is None
    assert layer_cost(sigmoid, CHIP, RELEASE).compute_s < cost.compute_s
