"""Values: the arithmetic contract against real Hexagon code, live and as committed vectors."""

import numpy as np
import pytest

from hexsim.binding.requantise import Requantise
from tests.oracle.toolchain import needs_tools
from tests.oracle.values import (
    GOLDEN,
    GOLDEN_SEEDS,
    KERNELS,
    PRIMITIVES,
    accumulators,
    computed,
    primitive,
    program,
)

VECTORS = np.load(GOLDEN)
LIVE_SEEDS = range(100, 140)


def as_bytes(values):
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", GOLDEN_SEEDS)
def test_kernels_equal_what_hexagon_code_computed(name, seed):
    np.testing.assert_array_equal(VECTORS[f"{name}/{seed}"], as_bytes(KERNELS[name](seed).expected))


@pytest.mark.parametrize("name", PRIMITIVES)
def test_instructions_equal_what_hexagon_code_computed(name):
    np.testing.assert_array_equal(VECTORS[f"{name}/0"], as_bytes(primitive(name, 0).expected))


@pytest.mark.parametrize("seed", GOLDEN_SEEDS)
def test_the_bound_requantise_equals_what_hexagon_code_computed(seed):
    acc, tail = accumulators(seed)
    shift = np.array([tail.shift], np.int32)
    multiplier = tail.multiplier.astype(np.int32)
    bound = Requantise(tail.preload.astype(np.int32), multiplier, shift, tail.low, tail.high)
    np.testing.assert_array_equal(as_bytes(bound.apply(acc)), VECTORS[f"requantise/{seed}"])


@pytest.fixture(scope="module", params=[60, 66])
def built(request, tmp_path_factory):
    return program(request.param, str(tmp_path_factory.mktemp("values")))


@needs_tools
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_qemu_over_many_sizes(name, built):
    for seed in LIVE_SEEDS:
        case = KERNELS[name](seed)
        np.testing.assert_array_equal(computed(case, built), as_bytes(case.expected), f"{seed}")


@needs_tools
@pytest.mark.parametrize("name", PRIMITIVES)
def test_instructions_equal_qemu(name, built):
    for seed in LIVE_SEEDS[:10]:
        case = primitive(name, seed)
        np.testing.assert_array_equal(computed(case, built), as_bytes(case.expected), f"{seed}")
