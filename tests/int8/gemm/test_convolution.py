import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexsim.int8.gemm.arguments import Windows
from hexsim.int8.gemm.convolution import add_codes
from hexsim.layers import Clamp, Convolution, Window
from hexsim.lowering import Operand, Requantize, Weights
from hexsim.lowering.products import LoweredConvolution
from tests.int8 import naive
from tests.int8.drawn import (
    BITS,
    CODES,
    arrays,
    assert_equals_reference,
    encoding,
    operands,
    stages,
    weights,
    windows,
)
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

ALL = ("portable", "pairs", "guarded", "dots", "winograd")


@st.composite
def convolutions(draw):
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    deep, wide = draw(st.integers(1, 9)), draw(st.sampled_from([1, 5, 16, 17, 33]))
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    bits = draw(BITS)
    x = draw(operands((draw(st.integers(1, 2)), height, width, groups * deep), bits=bits))
    window = draw(windows(height, width))
    multiplied = draw(weights((*window.kernel, deep, groups * wide)))
    channels = groups * wide
    shape = (x.shape[0], *window.output_size(height, width), channels)
    call = LoweredConvolution(
        layer="conv",
        inputs=(x,),
        output=draw(operands(shape, "y", bits)),
        weights=multiplied,
        window=window,
        groups=groups,
        stage=draw(stages(channels, bits, bits - 8 + multiplied.bits - 8)),
    )
    return call, draw(arrays(x.shape, CODES[bits]))


@given(convolutions())
@examples(150)
def test_equals_reference(case):
    call, codes = case
    assert_equals_reference(call, [codes], ALL)


@pytest.mark.parametrize("weight", [-128, 127, None])
@pytest.mark.parametrize("code", [0, 255])
def test_long_sums_of_extremes(weight, code):
    depth, channels = 4099, 19
    codes = np.empty((1, 1, depth, channels), np.int8)
    codes[...] = weight if weight is not None else 0
    if weight is None:
        codes[:, :, ::2], codes[:, :, 1::2] = -128, 127
    zero = 255 - code
    rng = np.random.default_rng(1)
    call = LoweredConvolution(
        layer="conv",
        inputs=(fixed_operand((1, 2, 5, depth), zero),),
        output=fixed_operand((1, 2, 5, channels), 0),
        weights=Weights(codes, 0, np.ones(channels)),
        window=Window((1, 1)),
        groups=1,
        stage=spread_tail(rng, channels),
    )
    assert_equals_reference(call, [np.full((1, 2, 5, depth), code, np.uint8)], ALL)


def test_accumulator_wraps_modulo_2_to_32():
    depth = 33026  # 255 * 255 * depth > 2^31
    call = LoweredConvolution(
        layer="conv",
        inputs=(fixed_operand((1, 1, 1, depth), 0),),
        output=fixed_operand((1, 1, 1, 1), 0),
        weights=Weights(np.full((1, 1, depth, 1), 255, np.uint8), 0, np.ones(1)),
        window=Window((1, 1)),
        groups=1,
        stage=spread_tail(np.random.default_rng(0), 1),
    )
    assert naive.wrap(255 * 255 * depth) < 0
    assert_equals_reference(call, [np.full((1, 1, 1, depth), 255, np.uint8)], ALL)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(groups, bits):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1, 8, 7, 6)).astype(np.float32)
    weight = rng.normal(size=(3, 3, 6 // groups, 8)).astype(np.float32)
    bias = rng.normal(size=8).astype(np.float32)
    layer = Convolution(
        name="conv",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        window=Window((3, 3), (2, 1), (1, 1, 0, 1)),
        groups=groups,
        clamp=Clamp(0.0, 6.0),
        output_channels=8,
    )
    result, seen, step = run_layer(layer, {"x": x}, (0, 6), {"w": weight, "b": bias}, bits=bits)
    expected = float_convolution(seen["x"], seen["w"], layer) + bias
    assert_within(result, np.clip(expected, 0, 6), step)


def float_convolution(x, weights, layer):
    deep, wide = weights.shape[2], weights.shape[3] // layer.groups
    (shape,) = layer.output_shapes([x.shape])
    out = np.zeros(shape)
    for n, oy, ox in naive.pixels(shape):
        for ky, kx, y, xx in naive.taps(layer.window, x.shape, oy, ox):
            for g in range(layer.groups):
                columns = slice(g * wide, (g + 1) * wide)
                pixel = x[n, y, xx, g * deep : (g + 1) * deep]
                out[n, oy, ox, columns] += pixel @ weights[ky, kx, :, columns]
    return out


def fixed_operand(shape, zero_point):
    return Operand("x", shape, encoding(zero_point))


def spread_tail(rng, channels):
    return Requantize(
        rng.integers(-(2**20), 2**20, channels, np.int32),
        rng.integers(1, 2**12, channels, np.int32),
        np.zeros(channels, np.int32),
        0,
        255,
    )


@given(
    st.integers(1, 200),
    st.lists(st.integers(0, 40), min_size=1, max_size=4),
    st.integers(1, 3),
    st.sampled_from([-128, -1, 3, 127]),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_equals_numpy(run, runs, groups, weight_zero, seed):
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.integers(0, 50, 5))
    x = rng.choice(np.array([0, 1, 77, 254, 255], np.uint8), 50 + 40 + run * groups)
    addends = np.full((groups, starts.size), 77, np.int32)
    windows = Windows(starts, np.array(runs), run, groups, run, 1)
    add_codes(x, windows, weight_zero, addends, 1, 4)
    for group in range(groups):
        for pixel in range(1, 4):
            windows = [starts[pixel] + offset + run * group for offset in runs]
            total = sum(int(x[at : at + run].sum(dtype=np.int64)) for at in windows)
            assert addends[group, pixel] == -weight_zero * total
    assert (addends[:, [0, 4]] == 77).all()


def test_long_runs_do_not_overflow():
    x = np.full(70_001, 255, np.uint8)
    addends = np.empty((1, 1), np.int32)
    nowhere = np.zeros(1, np.int64)
    add_codes(x, Windows(nowhere, nowhere, x.size, 1, 0, 1), -1, addends, 0, 1)
    assert addends[0, 0] == 255 * x.size
