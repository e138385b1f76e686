"""How long it takes to schedule a kernel for the first time, and to ask for its cost again."""

from __future__ import annotations

import pytest

from hexsim.hvx import modulo, pipelining
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.streams import convolution

KERNELS = {
    "conv v60": lambda: convolution.v60(HvxMachine(60), 3, 12),
    "conv v65": lambda: convolution.v65(HvxMachine(65), 3, 12),
    "conv v66": lambda: convolution.v66(HvxMachine(66), 3, 12),
    "depthwise": lambda: convolution.three_by_three(HvxMachine(66), 1),
}


def forget() -> None:
    for cached in (
        modulo.modulo,
        pipelining.pipelined,
        pipelining._epilogue_prologue,
        convolution.three_by_three,
    ):
        cached.cache_clear()
    for cached in (convolution.v60, convolution.v65, convolution.v66):
        cached.cache_clear()


@pytest.mark.parametrize("name", KERNELS)
def test_first_schedule(benchmark, name):
    benchmark.pedantic(KERNELS[name], setup=forget, rounds=3)


@pytest.mark.parametrize("name", KERNELS)
def test_cost_again(benchmark, name):
    assert benchmark(lambda: KERNELS[name]().cost).tile > 0
