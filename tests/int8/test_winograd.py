from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hexsim.int8.commands import KernelCommandList
from hexsim.int8.machine_code.features import use_vectors
from hexsim.int8.machine_code.inner_loops.winograd import pair_tile
from hexsim.int8.panel import COLUMNS
from hexsim.int8.step import Buffers, Step, Workspace
from hexsim.int8.winograd import (
    INPUT_MAP,
    INVERSE,
    KERNEL,
    LIMIT,
    OUTPUT_MAP,
    OUTPUTS,
    POINTS,
    SCALE,
    SHIFT,
    SQUARES,
    WEIGHT_MAP,
    WinogradConvolution,
    admits_winograd,
    pack_winograd,
    sums_fit,
)
from hexsim.layers import Window
from hexsim.lowering import Requantize, Weights
from hexsim.lowering.products import LoweredConvolution
from tests.int8 import naive
from tests.int8.drawn import arrays, in_pieces, operands, stages
from tests.int8.gemm.test_convolution import fixed_operand, spread_tail
from tests.int8.single_layer import execute
from tests.thorough import examples

PAIRED = np.eye(POINTS, dtype=np.int64)
for odd in (1, 3):
    PAIRED[odd : odd + 2, odd : odd + 2] = [[1, 1], [1, -1]]
TO_INPUTS, TO_WEIGHTS = PAIRED @ np.array(INPUT_MAP), PAIRED @ np.array(WEIGHT_MAP)
TO_OUTPUTS = np.array(OUTPUT_MAP) @ PAIRED


def test_products_give_every_output_times_the_scale():
    for at, weight in enumerate(np.eye(KERNEL, dtype=np.int64)):
        for place, code in enumerate(np.eye(POINTS, dtype=np.int64)):
            products = (TO_WEIGHTS @ weight) * (TO_INPUTS @ code)
            expected = [SCALE * (place == output + at) for output in range(OUTPUTS)]
            assert (TO_OUTPUTS @ products).tolist() == expected


def test_transforms_of_distances_fit_int16():
    for matrix in (TO_INPUTS, TO_WEIGHTS):
        assert 255 * np.abs(matrix).sum(axis=1).max() ** 2 < 2**15


def test_sums_within_the_limit_come_back():
    for total in (0, 1, -1, LIMIT - 1, -LIMIT, 12345678, -23456789):
        scaled = total * SCALE**2 % 2**32 * INVERSE % 2**32
        signed = (scaled + 2**31) % 2**32 - 2**31
        assert signed >> SHIFT == total


@pytest.mark.parametrize("zero_point", [0, 100, 255])
@pytest.mark.parametrize("weight", [127, -128])
def test_sums_fit_up_to_what_codes_can_reach(zero_point, weight):
    largest = max(zero_point, 255 - zero_point) * abs(weight)
    depth = (LIMIT - 1) // (9 * largest)
    for deep, fits in ((depth, True), (depth + 1, False)):
        codes = np.full((3, 3, deep, 2), weight, np.int8)
        codes[..., 0] = 1
        assert sums_fit(Weights(codes, 0, np.ones(2)), zero_point) == fits


def test_weights_of_both_signs_bound_each_other():
    deep = 150  # 9 * 150 * 128 * 255 > LIMIT
    codes = np.full((3, 3, deep, 1), 127, np.int8)
    assert not sums_fit(Weights(codes, 0, np.ones(1)), 0)
    codes[:, :, ::2] = -128
    assert sums_fit(Weights(codes, 0, np.ones(1)), 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(("deep", "columns"), [(1, 1), (5, 16), (16, 33), (7, 50)])
def test_panels_hold_transformed_weights(dtype, deep, columns):
    info, zero = np.iinfo(dtype), 0 if dtype is np.int8 else 200
    rng = np.random.default_rng(deep)
    codes = rng.integers(info.min, info.max, (3, 3, deep, columns), dtype, endpoint=True)
    codes[:, :, 0, 0] = info.min
    distances = codes.astype(np.int64) - zero
    expected = np.einsum("pi,qj,ijkc->pqkc", TO_WEIGHTS, TO_WEIGHTS, distances)
    steps, of_tile = -(-deep // 2), pair_tile().panels
    panels = -(-columns // (COLUMNS * of_tile)) * of_tile
    packed = pack_winograd(Weights(codes, zero, np.ones(columns))).view(np.int16)
    unpacked = packed.reshape(panels, SQUARES, steps, COLUMNS, 2).transpose(1, 2, 4, 0, 3)
    unpacked = unpacked.reshape(SQUARES, 2 * steps, panels * COLUMNS)
    np.testing.assert_array_equal(unpacked[:, :deep, :columns], expected.reshape(SQUARES, deep, -1))
    assert not unpacked[:, deep:].any()
    assert not unpacked[:, :, columns:].any()


needs_vectors = pytest.mark.skipif(not use_vectors(), reason="the tile has vectors of AVX2")


@st.composite
def convolutions(draw):
    """3x3 convolutions of 8 bits, ragged in every direction."""
    height, width = draw(st.integers(1, 11)), draw(st.integers(1, 11))
    deep = draw(st.sampled_from([1, 3, 16, 17, 32, 40]))
    wide = draw(st.sampled_from([1, 16, 33, 50]))
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    pads[2] += max(0, 3 - height - pads[0] - pads[2])
    pads[3] += max(0, 3 - width - pads[1] - pads[3])
    window = Window((3, 3), pads=tuple(pads))
    dtype = draw(st.sampled_from([np.int8, np.uint8]))
    zero = draw(st.sampled_from([0, 128, 255])) if dtype is np.uint8 else 0
    x = draw(operands((draw(st.integers(1, 2)), height, width, deep)))
    call = LoweredConvolution(
        layer="conv",
        inputs=(x,),
        output=draw(operands((x.shape[0], *window.output_size(height, width), wide), "y")),
        weights=Weights(draw(arrays((3, 3, deep, wide), dtype)), zero, np.ones(wide)),
        window=window,
        groups=1,
        stage=draw(stages(wide)),
    )
    return call, draw(arrays(x.shape))


@needs_vectors
@given(convolutions())
@examples(100)
def test_equals_reference(case):
    call, codes = case
    assume(admits_winograd(call))
    prepared, expected = WinogradConvolution(call), naive.run(call, [codes])
    for pieces in (1, 3):
        output = np.full(call.output.shape, 77, np.uint8)
        for work in prepared.steps(Buffers([codes], output, Workspace())):
            in_pieces(work, pieces)
        np.testing.assert_array_equal(output, expected)


@needs_vectors
@given(convolutions())
@examples(30)
def test_sums_instead_of_codes(case):
    call, codes = case
    assume(admits_winograd(call))
    channels = call.output.shape[-1]
    nothing, ones = np.zeros(channels, np.int32), np.ones(channels, np.int32)
    bare = replace(call, stage=Requantize(nothing, ones, nothing, 0, 255))
    sums = np.empty(call.output.shape, np.int32)
    execute(WinogradConvolution(bare), [codes], sums)
    x, weights = codes.astype(np.int64), call.weights.codes.astype(np.int64)
    padded = np.pad(
        x - call.inputs[0].zero_point,
        [(0, 0), *zip(call.window.pads[:2], call.window.pads[2:], strict=True), (0, 0)],
    )
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    distances = weights - call.weights.zero_point
    np.testing.assert_array_equal(sums, np.einsum("nyxkij,ijkc->nyxc", windows, distances))


def dense(shape, weights, zero_point=0, window=None, groups=1):
    window = window or Window((3, 3), pads=(1, 1, 1, 1))
    channels = weights.codes.shape[-1]
    output = (shape[0], *window.output_size(*shape[1:3]), channels)
    return LoweredConvolution(
        layer="conv",
        inputs=(fixed_operand(shape, zero_point),),
        output=fixed_operand(output, 0),
        weights=weights,
        window=window,
        groups=groups,
        stage=spread_tail(np.random.default_rng(5), channels),
    )


@needs_vectors
@pytest.mark.parametrize("weight", [-128, 127, None])
@pytest.mark.parametrize("code", [0, 255, None])
def test_extremes_as_deep_as_they_are_admitted(weight, code):
    deep = 114 if weight is not None else 228
    codes = np.full((3, 3, deep, 3), weight or 0, np.int8)
    if weight is None:
        codes[:, :, ::2], codes[:, :, 1::2] = -128, 127
    call = dense((1, 7, 6, deep), Weights(codes, 0, np.ones(3)), 255 - (code or 0))
    x = np.full(call.inputs[0].shape, code or 0, np.uint8)
    if code is None:
        x[..., 1::2] = 255
    assert admits_winograd(call)
    output = np.empty(call.output.shape, np.uint8)
    execute(WinogradConvolution(call), [x], output)
    np.testing.assert_array_equal(output, naive.run(call, [x]))


@needs_vectors
@pytest.mark.parametrize("zero", [0, 255])
@pytest.mark.parametrize("code", [0, 255])
def test_nine_bit_distances_fit_the_transforms(zero, code):
    """All |x| and |w| are 255 with the signs that make one transformed value the largest."""
    weights = Weights(np.full((3, 3, 20, 4), 255 - zero, np.uint8), zero, np.ones(4))
    call = dense((1, 12, 12, 20), weights, 255 - code)
    x = np.full(call.inputs[0].shape, code, np.uint8)
    x[:, 2::4], x[:, :, 2::4] = 255 - code, 255 - code
    output = np.empty(call.output.shape, np.uint8)
    execute(WinogradConvolution(call), [x], output)
    np.testing.assert_array_equal(output, naive.run(call, [x]))


@needs_vectors
@pytest.mark.parametrize("size", [9, 41])  # all tiles transformed first; block by block
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_share_it(size, threads):
    rng = np.random.default_rng(size)
    weights = Weights(rng.integers(-128, 127, (3, 3, 24, 70), np.int8), 0, np.ones(70))
    call = dense((2, size, size, 24), weights, 3)
    x = rng.integers(0, 255, call.inputs[0].shape, np.uint8)
    output = np.zeros(call.output.shape, np.uint8)
    work = WinogradConvolution(call).steps(Buffers([x], output, Workspace()))
    assert len(work) == (2 if size == 9 else 1)
    assert all(isinstance(step, Step) for step in work)
    program = KernelCommandList(work, threads)
    program.run()
    program.run()
    np.testing.assert_array_equal(output, fast_reference(call, x))


def fast_reference(call, codes):
    """The reference with an inner product by numpy, for sizes that its loops are too slow for."""
    x = np.pad(codes.astype(np.int64) - call.inputs[0].zero_point, [(0, 0), (1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    weights = call.weights.codes.astype(np.int64)
    sums = np.einsum("nyxkij,ijkc->nyxc", windows, weights, optimize=True)
    stage = call.stage
    total = sums + stage.preload
    return np.clip((total * stage.multiplier + 2**30) >> 31, stage.low, stage.high)


@pytest.mark.parametrize(
    ("window", "groups", "deep"),
    [
        (Window((3, 3), (2, 1)), 1, 4),
        (Window((3, 3), dilations=(1, 2)), 1, 4),
        (Window((3, 1)), 1, 4),
        (Window((5, 5)), 1, 4),
        (Window((3, 3)), 2, 4),
        (Window((3, 3)), 1, 116),  # 9 * 116 * 127 * 255 > 2^25
    ],
)
def test_refuses_other_convolutions(window, groups, deep):
    codes = np.full((*window.kernel, deep // groups, 6), 127, np.int8)
    call = dense((1, 8, 8, deep), Weights(codes, 0, np.ones(6)), 0, window, groups)
    assert not admits_winograd(call)
