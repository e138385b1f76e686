from __future__ import annotations

import pytest

from hexsim import chips, stacks
from hexsim.host.gpu import roofline
from hexsim.results import largest
from tests.small_networks import Sketch, plan

CHIP, STACK = chips.load("sd835"), stacks.load("snpe-1.23")


@pytest.mark.parametrize("runtime", ["gpu", "gpu_fp16"])
def test_two_constants_make_the_time_of_a_convolution(runtime: str) -> None:
    net = Sketch((1, 56, 56, 64))
    (call,) = plan(net.network(net.conv("in", 64, 3)), runtime).calls()  # type: ignore[arg-type]
    cost = roofline(call, CHIP, STACK)
    peak = CHIP.gpu.clock_hz * CHIP.gpu.fp32_flops_per_clk
    flops = 2 * 56 * 56 * 64 * 64 * 9
    assert cost.compute_s == pytest.approx(flops / peak / STACK.gpu.efficiency)
    assert cost.start_s == STACK.gpu.layer_s


def test_weights_are_halves() -> None:
    net = Sketch((1, 4096))
    (call,) = plan(net.network(net.dense("in", 4096)), "gpu").calls()
    cost = roofline(call, CHIP, STACK)
    size = 2 * (4096 * 4096 + 2 * 4096)
    assert cost.memory_s == pytest.approx(size / CHIP.gpu.bandwidth_bytes_per_s)
    assert largest(cost.parts_ps) == "ddr"
