import gc
import os
import subprocess
import sys
import weakref
from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.int8 import autotuner
from hexsim.int8.autotuner import AutotunerCache
from hexsim.int8.gemm.convolution import GuardedConvolution, PlainConvolution, TiledConvolution
from hexsim.int8.machine_code.features import has_vectors
from hexsim.layers import Window
from hexsim.lowering import Operand, Requantize, Weights
from hexsim.lowering.products import LoweredConvolution
from tests.imports import CHECKOUT
from tests.int8 import naive
from tests.int8.drawn import encoding
from tests.int8.single_layer import execute

SMALL, LARGE = 8, 90
"""Spread of weights: the first are packed without a split, the second take more than pairs do."""
EVEN = 40
"""For these both algorithms take about as many instructions."""


def convolution(spread=SMALL, deep=64, channels=32, bits=8):
    rng = np.random.default_rng(1)
    codes = np.clip(np.rint(rng.normal(0, spread, (1, 1, deep, channels))), -128, 127)
    return LoweredConvolution(
        layer="conv",
        inputs=(Operand("x", (1, 30, 50, deep), encoding(3)),),
        output=Operand("y", (1, 30, 50, channels), encoding(0, bits=bits)),
        weights=Weights(codes.astype(np.int8), 0, np.ones(channels)),
        window=Window((1, 1)),
        groups=1,
        stage=Requantize(
            rng.integers(-100, 100, channels, np.int32),
            rng.integers(2**20, 2**21, channels, np.int32),
            np.zeros(channels, np.int32),
            0,
            255,
        ),
    )


def single_pixel(call):
    return replace(
        call,
        inputs=(replace(call.inputs[0], shape=(1, 1, 1, 64)),),
        output=replace(call.output, shape=(1, 1, 1, 32)),
    )


@pytest.fixture
def cpu(monkeypatch):
    """Set what the CPU has; nothing is measured, and nothing is known."""
    kept = AutotunerCache(None)

    def measured(prepared, call):
        raise AssertionError("measured")

    def of(vectors, dots, exact=True, seconds=measured):
        monkeypatch.setattr(autotuner, "has_vectors", lambda: vectors)
        monkeypatch.setattr(autotuner, "has_dots", lambda: dots)
        monkeypatch.setattr(autotuner, "dots_are_exact", lambda: exact)
        monkeypatch.setattr(autotuner, "seconds_of", seconds)
        return kept

    monkeypatch.setattr(autotuner, "autotuner_cache", lambda: kept)
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    return of


def name_of(prepared):
    """The algorithm, told by what it packed."""
    if isinstance(prepared, PlainConvolution):
        return "portable"
    if isinstance(prepared, GuardedConvolution):
        return "guarded"
    assert isinstance(prepared, TiledConvolution)
    return {"int16": "pairs", "uint8": "dots"}[prepared._padded.dtype]


@pytest.mark.parametrize(
    ("wanted", "vectors", "dots", "spread", "chosen"),
    [
        ("", False, False, SMALL, "portable"),
        ("", True, False, SMALL, "guarded"),
        ("", True, False, LARGE, "pairs"),
        ("", True, True, SMALL, "dots"),
        ("portable", True, True, SMALL, "portable"),
        ("pairs", True, True, SMALL, "pairs"),
        ("guarded", True, True, LARGE, "guarded"),
        ("dots", True, False, SMALL, "guarded"),
        ("dots", True, True, SMALL, "dots"),
        ("pairs", False, False, SMALL, "portable"),
    ],
)
def test_fewest_instructions_unless_another_is_wanted(
    cpu, monkeypatch, wanted, vectors, dots, spread, chosen
):
    cpu(vectors, dots)
    monkeypatch.setenv("HEXSIM_KERNELS", wanted)
    assert name_of(autotuner.prepare_convolution(convolution(spread))) == chosen


def test_dots_that_fail_their_check_are_not_used(cpu):
    cpu(vectors=True, dots=True, exact=False)
    assert name_of(autotuner.prepare_convolution(convolution())) == "guarded"


@pytest.mark.parametrize("fastest", ["pairs", "guarded"])
def test_near_ones_are_timed_once_and_the_loser_is_let_go(cpu, fastest):
    seen = []

    def seconds(prepared, call):
        seen.append([weakref.ref(algorithm) for algorithm in prepared])
        return [float(name_of(algorithm) != fastest) for algorithm in prepared]

    kept = cpu(vectors=True, dots=False, seconds=seconds)
    call = convolution(EVEN)
    first, again = (autotuner.prepare_convolution(call) for _ in range(2))
    assert [name_of(first), name_of(again)] == [fastest, fastest]
    (alive,) = seen
    gc.collect()
    assert [reference() for reference in alive if reference() is not None] == [first]
    assert kept._known
    if not has_vectors():
        return  # neither runs here
    out = np.empty(call.output.shape, np.uint8)
    x = np.random.default_rng(2).integers(0, 256, call.inputs[0].shape, np.uint8)
    execute(first, [x], out)
    np.testing.assert_array_equal(out, naive.run(call, [x]))


def test_everything_that_decides_the_time_is_in_the_question(cpu):
    asked = {
        autotuner.describe(call)
        for call in (
            convolution(),
            convolution(deep=68),
            convolution(channels=48),
            convolution(bits=16),
        )
    }
    assert len(asked) == 4
    assert autotuner.describe(convolution(LARGE)) == autotuner.describe(convolution())
    assert autotuner.describe(convolution()) == (
        "1x30x50x64 by 1x1x64x32, groups 1, step 1x1, dilation 1x1, pads 0x0x0x0, symmetric int8, "
        "codes"
    )


@pytest.mark.slow
def test_restrictions_of_numba_are_honoured():
    program = (
        "from tests.int8.test_autotuner import *\n"
        "print(name_of(autotuner.prepare_convolution(convolution())))"
    )
    environment = os.environ | {"NUMBA_CPU_FEATURES": "+sse2", "HEXSIM_KERNELS": ""}
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "portable"


def test_unknown_choice_is_refused(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "fast")
    with pytest.raises(HexsimError, match="HEXSIM_KERNELS is 'fast'"):
        autotuner.prepare_convolution(convolution())


def test_weights_are_not_packed_for_what_another_beats(cpu, monkeypatch):
    cpu(vectors=True, dots=True)
    monkeypatch.setattr(autotuner.ByCodes, "guarded", property(lambda layer: pytest.fail("packed")))
    assert name_of(autotuner.prepare_convolution(single_pixel(convolution()))) == "dots"


def test_few_pixels_take_the_algorithm_that_reads_fewer_bytes(cpu):
    cpu(vectors=True, dots=False)
    call = convolution(LARGE)
    assert name_of(autotuner.prepare_convolution(call)) == "pairs"
    assert name_of(autotuner.prepare_convolution(single_pixel(call))) == "guarded"
