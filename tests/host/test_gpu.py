from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.deployment.platform import Platform
from hexsim.host.gpu import layer_cost
from hexsim.simulation.simulator import Workload
from hexsim.timing.results import largest
from tests.small_networks import Sketch, plan

CHIP, STACK = chips.load("sd835"), stacks.load("snpe-1.23")


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(("kernel", "groups"), [(1, 1), (3, 1), (3, 64)])
def test_two_constants_make_the_time_of_a_convolution(kernel: int, groups: int, half: bool) -> None:
    """The multipliers, twice as fast in halves, work for a share of a dense window's time."""
    net = Sketch((1, 56, 56, 64))
    out = net.conv("in", 64, kernel, groups=groups)
    (call,) = plan(net.network(out), "gpu").calls()
    cost = layer_cost(call, CHIP, STACK, half=half)
    at_peak_s = 2 * call.macs / (CHIP.gpu.clock_hz * CHIP.gpu.fp32_flops_per_clk)
    waiting_s = at_peak_s / STACK.gpu.efficiency - at_peak_s
    faster = 2 if half and kernel == 3 and groups == 1 else 1
    assert cost.compute_s == pytest.approx(waiting_s + at_peak_s / faster)
    assert cost.start_s == STACK.gpu.layer_s


def test_half_arithmetic_is_that_of_its_own_runtime() -> None:
    net = Sketch((1, 56, 56, 64))
    network = net.network(net.conv("in", 64, 3))
    hybrid, half = (
        Platform(CHIP, STACK).simulate(Workload.single(plan(network, runtime))).layers[0].us
        for runtime in ("gpu", "gpu_fp16")
    )
    at_peak_us = 2e6 * 56 * 56 * 64 * 64 * 9 / (CHIP.gpu.clock_hz * CHIP.gpu.fp32_flops_per_clk)
    assert hybrid - half == pytest.approx(at_peak_us / 2, rel=1e-3)


def test_weights_are_halves_and_a_convolution_streams_them() -> None:
    net = Sketch((1, 1, 1, 4096))
    (call,) = plan(net.network(net.conv("in", 4096)), "gpu").calls()
    cost = layer_cost(call, CHIP, STACK)
    size = 2 * (4096 * 4096 + 2 * 4096)
    assert cost.memory_s == pytest.approx(size / CHIP.gpu.bandwidth_bytes_per_s)
    assert largest(cost.parts_ps) == "ddr"


@pytest.mark.parametrize("outputs", [400, 1000])
def test_every_work_item_of_a_product_waits_for_as_many_weights_as_it_has_inputs(
    outputs: int,
) -> None:
    assert dense_s(1, 4096, outputs) == pytest.approx(4096 * CHIP.gpu.latency_s, rel=1e-3)


def test_many_outputs_use_the_whole_bandwidth() -> None:
    size = 2 * (64 * 100_000 + 64 + 100_000)
    assert dense_s(1, 64, 100_000) == pytest.approx(size / CHIP.gpu.bandwidth_bytes_per_s)


def test_a_product_with_one_output_is_spread_over_a_wave() -> None:
    assert dense_s(1, 64_000, 1) == pytest.approx(64_000 / 256 * CHIP.gpu.latency_s, rel=1e-3)


@given(st.integers(1, 40), st.integers(1, 5000), st.integers(1, 5000))
def test_a_batch_takes_as_long_as_one_image_at_least_and_as_its_images_at_most(
    batch: int, inputs: int, outputs: int
) -> None:
    single_s, many = (dense_s(n, inputs, outputs) for n in (1, batch))
    assert single_s * (1 - 1e-9) <= many <= batch * single_s * (1 + 1e-9)


def dense_s(batch: int, inputs: int, outputs: int) -> float:
    net = Sketch((batch, inputs))
    (call,) = plan(net.network(net.dense("in", outputs)), "gpu").calls()
    cost = layer_cost(call, CHIP, STACK)
    return max(cost.compute_s, cost.memory_s)


def test_a_launch_is_between_the_layers_where_a_release_says_so() -> None:
    """3 us of each layer are in its own time, and the total does not change."""
    net = Sketch((1, 8, 8, 32))
    network_plan = plan(net.network(net.conv(net.conv("in", 32, 1), 32, 1)), "gpu")
    whole = stacks.load("snpe-1.63").with_value("gpu.kernel_s", STACK.gpu.layer_s)
    results = [
        Platform(chips.load("sd865"), stack).simulate(Workload.single(network_plan))
        for stack in (whole, stacks.load("snpe-1.63"))
    ]
    layers_us = [sum(layer.us for layer in result.layers) for result in results]
    moved_us = 2e6 * (STACK.gpu.layer_s - 3e-6)
    assert layers_us[0] - layers_us[1] == pytest.approx(moved_us, abs=1e-3)
    assert results[0].total_us == pytest.approx(results[1].total_us, abs=1e-3)
