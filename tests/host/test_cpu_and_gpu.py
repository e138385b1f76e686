from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.deployment.platform import Platform
from hexsim.host.cpu_and_gpu import LayerCost, cpu_cost, gpu_cost
from hexsim.layers import Concat, Neuron, Pooling, Softmax, Window
from hexsim.planning.plan import KernelCall
from hexsim.simulation.simulator import Workload
from hexsim.timing.results import largest
from tests.small_networks import Sketch, plan

CHIP, RELEASE = chips.load("sd835"), stacks.load("snpe-1.23")
STACK = RELEASE.with_ideal_cpu()


def call(net: Sketch, output: str, runtime: str = "cpu") -> KernelCall:
    calls = plan(net.network(output), runtime).calls()  # type: ignore[arg-type]
    return next(c for c in calls if output in c.layer.outputs)


def test_a_convolution_runs_at_its_share_of_the_float_peak() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = cpu_cost(call(net, net.conv("in", 64, 3)), CHIP, STACK)
    peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
    macs = 56 * 56 * 64 * 64 * 9
    assert cost.compute_s == pytest.approx(macs / peak / STACK.cpu.convolution_efficiency)
    assert largest(cost.parts_ps) == "compute"


def test_a_deconvolution_is_far_slower_than_a_convolution() -> None:
    net = Sketch((1, 28, 28, 64))
    slow = cpu_cost(call(net, net.deconv("in", 64)), CHIP, STACK)
    fast = cpu_cost(call(net, net.conv("in", 256)), CHIP, STACK)
    ratio = STACK.cpu.convolution_efficiency / STACK.cpu.depthwise_efficiency
    assert slow.compute_s == pytest.approx(ratio * fast.compute_s)


def test_integers_run_at_the_integer_peak_and_move_a_quarter() -> None:
    net = Sketch((1, 56, 56, 64))
    out = net.conv("in", 64, 3)
    floats, codes = (cpu_cost(call(net, out, r), CHIP, STACK) for r in ("cpu", "fxp_cpu"))
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
    cost, base = cpu_cost(wide, CHIP, STACK), cpu_cost(narrow, CHIP, STACK)
    assert cost.compute_s == pytest.approx(passes * base.compute_s)
    assert cost.memory_s > base.memory_s


def test_halves_are_computed_at_the_float_peak_and_move_half() -> None:
    net = Sketch((1, 56, 56, 64))
    single = call(net, net.conv("in", 64, 3))
    half = cpu_cost(replace(single, activation_bits=16, weight_bits=16), CHIP, STACK)
    cost = cpu_cost(single, CHIP, STACK)
    assert half.compute_s == cost.compute_s
    assert 2 * half.memory_s == pytest.approx(cost.memory_s)


def test_depthwise_and_dense_have_efficiencies_of_their_own() -> None:
    net = Sketch((1, 56, 56, 64))
    depthwise = cpu_cost(call(net, net.depthwise("in")), CHIP, STACK)
    peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
    macs = 56 * 56 * 64 * 9
    assert depthwise.compute_s == pytest.approx(macs / peak / STACK.cpu.depthwise_efficiency)
    flat = Sketch((1, 4096))
    dense = cpu_cost(call(flat, flat.dense("in", 4096)), CHIP, STACK)
    assert largest(dense.parts_ps) == "ddr"


def test_a_layer_without_macs_counts_its_elements() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = cpu_cost(call(net, net.add(Neuron, "in", function="tanh")), CHIP, STACK)
    assert cost.compute_s > 0
    assert cost.memory_s == pytest.approx(2 * 56 * 56 * 64 * 4 / CHIP.cpu.bandwidth_bytes_per_s)


def test_a_concat_is_a_copy_by_one_core() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = cpu_cost(call(net, net.add(Concat, "in", "in", axis=3)), CHIP, STACK)
    moved = 4 * 56 * 56 * 64 * 4
    assert cost.memory_s == pytest.approx(moved / (CHIP.cpu.clock_hz * CHIP.cpu.copy_bytes_per_clk))


def test_a_pooling_reads_an_element_for_each_position_of_its_window() -> None:
    net = Sketch((1, 20, 20, 256))
    pooled = pooling(net, 5)
    peak = CHIP.cpu.cores * CHIP.cpu.clock_hz * CHIP.cpu.fp32_macs_per_clk
    operations = (25 + 1) * 20 * 20 * 256
    assert cpu_cost(call(net, pooled), CHIP, STACK).compute_s == pytest.approx(
        operations / peak / STACK.cpu.other_efficiency
    )


def pooling(net: Sketch, size: int) -> str:
    window = Window(kernel=(size, size), pads=(size // 2,) * 4)
    return net.add(Pooling, "in", kind="max", window=window)


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
        assert cpu_cost(layer_call, CHIP, RELEASE).compute_s == pytest.approx(
            layer_call.macs / peak / share
        )
        assert (
            cpu_cost(layer_call, CHIP, RELEASE).compute_s
            > cpu_cost(layer_call, CHIP, STACK).compute_s
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
    cost = cpu_cost(sigmoid, CHIP, release)
    assert cost.compute_s == pytest.approx(20 * 20 * 256 * clk / CHIP.cpu.clock_hz)
    assert release.cpu_function_clk(floats=False) is None
    assert cpu_cost(sigmoid, CHIP, RELEASE).compute_s < cost.compute_s


GPU_CHIP, GPU_STACK = chips.load("sd835"), stacks.load("snpe-1.23")


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(("kernel", "groups"), [(1, 1), (3, 1), (3, 64)])
def test_two_constants_make_the_time_of_a_convolution(kernel: int, groups: int, half: bool) -> None:
    """The multipliers, twice as fast in halves, work for a share of a dense window's time."""
    net = Sketch((1, 56, 56, 64))
    out = net.conv("in", 64, kernel, groups=groups)
    (call,) = plan(net.network(out), "gpu").calls()
    cost = gpu_cost(call, GPU_CHIP, GPU_STACK, half=half)
    at_peak_s = 2 * call.macs / (GPU_CHIP.gpu.clock_hz * GPU_CHIP.gpu.fp32_flops_per_clk)
    waiting_s = at_peak_s / GPU_STACK.gpu.efficiency - at_peak_s
    faster = 2 if half and kernel == 3 and groups == 1 else 1
    assert cost.compute_s == pytest.approx(waiting_s + at_peak_s / faster)
    assert cost.start_s == GPU_STACK.gpu.layer_s


@pytest.mark.parametrize(("size", "channels"), [(7, 64), (20, 256), (40, 256), (80, 64)])
@pytest.mark.parametrize("pooled", [False, True])
def test_a_small_map_does_not_fill_the_gpu(size: int, channels: int, pooled: bool) -> None:
    """Each of 1024 lanes loses 17 texels, at most 17 of 25; snpe-1.30 is not known to lose any."""
    chip, net = chips.load("sd865"), Sketch((1, size, size, channels))
    name = pooling(net, 5) if pooled else net.conv("in", channels)
    layer = call(net, name, "gpu")
    full, lost = (gpu_cost(layer, chip, stacks.load(f"snpe-1.{n}")) for n in (30, 63))
    times = 1 + 17 / max(25, size * size * channels / 4 / 1024)
    if pooled:
        assert lost.memory_s == pytest.approx(times * full.memory_s)
    else:
        assert lost.compute_s == pytest.approx(times * full.compute_s)


def test_nothing_hides_the_write_of_a_convolution() -> None:
    net = Sketch((1, 56, 56, 64))
    cost = gpu_cost(call(net, net.conv("in", 128), "gpu"), GPU_CHIP, GPU_STACK)
    assert cost.write_s == pytest.approx(2 * 56 * 56 * 128 / GPU_CHIP.gpu.bandwidth_bytes_per_s)
    hidden = LayerCost(cost.compute_s, cost.memory_s, cost.start_s)
    assert cost.duration_ps - hidden.duration_ps == pytest.approx(1e12 * cost.write_s, abs=1)
    assert sum(cost.parts_ps.values()) == cost.duration_ps
    assert gpu_cost(call(net, pooling(net, 3), "gpu"), GPU_CHIP, GPU_STACK).write_s == 0


def test_half_arithmetic_is_that_of_its_own_runtime() -> None:
    net = Sketch((1, 56, 56, 64))
    network = net.network(net.conv("in", 64, 3))
    hybrid, half = (
        Platform(GPU_CHIP, GPU_STACK).simulate(Workload.single(plan(network, runtime))).layers[0].us
        for runtime in ("gpu", "gpu_fp16")
    )
    at_peak_us = (
        2e6 * 56 * 56 * 64 * 64 * 9 / (GPU_CHIP.gpu.clock_hz * GPU_CHIP.gpu.fp32_flops_per_clk)
    )
    assert hybrid - half == pytest.approx(at_peak_us / 2, rel=1e-3)


def test_weights_are_halves_and_a_convolution_streams_them() -> None:
    net = Sketch((1, 1, 1, 4096))
    (call,) = plan(net.network(net.conv("in", 4096)), "gpu").calls()
    cost = gpu_cost(call, GPU_CHIP, GPU_STACK)
    size = 2 * (4096 * 4096 + 2 * 4096)
    moved_s = cost.memory_s + cost.write_s
    assert moved_s == pytest.approx(size / GPU_CHIP.gpu.bandwidth_bytes_per_s)
    assert largest(cost.parts_ps) == "ddr"


@pytest.mark.parametrize("outputs", [400, 1000])
def test_every_work_item_of_a_product_waits_for_as_many_weights_as_it_has_inputs(
    outputs: int,
) -> None:
    assert dense_s(1, 4096, outputs) == pytest.approx(4096 * GPU_CHIP.gpu.latency_s, rel=1e-3)


def test_many_outputs_use_the_whole_bandwidth() -> None:
    size = 2 * (64 * 100_000 + 64 + 100_000)
    assert dense_s(1, 64, 100_000) == pytest.approx(size / GPU_CHIP.gpu.bandwidth_bytes_per_s)


def test_a_product_with_one_output_is_spread_over_a_wave() -> None:
    assert dense_s(1, 64_000, 1) == pytest.approx(64_000 / 256 * GPU_CHIP.gpu.latency_s, rel=1e-3)


@given(st.integers(1, 40), st.integers(1, 5000), st.integers(1, 5000))
def test_a_batch_takes_as_long_as_one_image_at_least_and_as_its_images_at_most(
    batch: int, inputs: int, outputs: int
) -> None:
    single_s, many = (dense_s(n, inputs, outputs) for n in (1, batch))
    assert single_s * (1 - 1e-9) <= many <= batch * single_s * (1 + 1e-9)


def dense_s(batch: int, inputs: int, outputs: int) -> float:
    net = Sketch((batch, inputs))
    (call,) = plan(net.network(net.dense("in", outputs)), "gpu").calls()
    cost = gpu_cost(call, GPU_CHIP, GPU_STACK)
    return max(cost.compute_s, cost.memory_s)


def test_a_launch_is_between_the_layers_where_a_release_says_so() -> None:
    """3 us of each layer are in its own time, and the total does not change."""
    net = Sketch((1, 8, 8, 32))
    network_plan = plan(net.network(net.conv(net.conv("in", 32, 1), 32, 1)), "gpu")
    whole = stacks.load("snpe-1.63").with_value("gpu.kernel_s", GPU_STACK.gpu.layer_s)
    results = [
        Platform(chips.load("sd865"), stack).simulate(Workload.single(network_plan))
        for stack in (whole, stacks.load("snpe-1.63"))
    ]
    layers_us = [sum(layer.us for layer in result.layers) for result in results]
    moved_us = 2e6 * (GPU_STACK.gpu.layer_s - 3e-6)
    assert layers_us[0] - layers_us[1] == pytest.approx(moved_us, abs=1e-3)
    assert results[0].total_us == pytest.approx(results[1].total_us, abs=1e-3)


@pytest.mark.parametrize("depthwise", [False, True])
def test_windows_read_a_texel_of_four_channels_for_each_position(depthwise: bool) -> None:
    """Adreno 640 has 24 texture units, and 1536 FLOP/clk."""
    chip = chips.load("sd855")
    net = Sketch((1, 40, 40, 256))
    name = net.depthwise("in", 5) if depthwise else pooling(net, 5)
    cost = gpu_cost(call(net, name, "gpu"), chip, stacks.load("snpe-1.30"))
    clocks = 40 * 40 * 64 * 25 / 24
    assert cost.memory_s == pytest.approx(clocks / chip.gpu.clock_hz)


def test_a_softmax_moves_lines_for_each_element_where_a_release_does_so() -> None:
    chip, release = chips.load("sd865"), stacks.load("qnn-2.45")
    net = Sketch((1, 12, 64, 64))
    softmax = call(net, net.add(Softmax, "in", axes=(3,)), "gpu")
    slow = gpu_cost(softmax, chip, release)
    fast = gpu_cost(softmax, chip, stacks.load("snpe-1.63"))
    more = release.gpu.softmax_bytes_per_element * 12 * 64 * 64
    assert slow.memory_s - fast.memory_s == pytest.approx(more / chip.gpu.bandwidth_bytes_per_s)
