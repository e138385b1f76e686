import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.dispatch import prepare
from hexsim.int8.gemm.depthwise import DepthwiseOfCodes, PreparedDepthwise
from hexsim.int8.sixteen_bit import PreparedBytes
from hexsim.layers import NO_CLAMP, BatchNorm, Clamp, Convolution, Window
from hexsim.lowering.normalization import LoweredBatchNorm
from hexsim.lowering.products import LoweredConvolution
from tests.int8.drawn import (
    BITS,
    CODES,
    arrays,
    assert_equals_reference,
    operands,
    stages,
    weights,
    windows,
)
from tests.int8.gemm.test_convolution import float_convolution
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples


@st.composite
def depthwise_convolutions(draw):
    channels = draw(st.sampled_from([2, 3, 16, 33, 64, 112]))
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    bits = draw(BITS)
    x = draw(operands((draw(st.integers(1, 2)), height, width, channels), bits=bits))
    window = draw(windows(height, width))
    multiplied = draw(weights((*window.kernel, 1, channels)))
    shape = (x.shape[0], *window.output_size(height, width), channels)
    call = LoweredConvolution(
        layer="depthwise",
        inputs=(x,),
        output=draw(operands(shape, "y", bits)),
        weights=multiplied,
        window=window,
        groups=channels,
        stage=draw(stages(channels, bits, bits - 8 + multiplied.bits - 8)),
    )
    return call, draw(arrays(x.shape, CODES[bits]))


@given(depthwise_convolutions())
@examples(100)
def test_equals_reference(case):
    call, codes = case
    codes_or_distances = (DepthwiseOfCodes, PreparedDepthwise)
    assert isinstance(
        prepare(call), PreparedBytes if call.stage.fraction_bits else codes_or_distances
    )
    assert_equals_reference(call, [codes], ("portable", "pairs", "dots"))


@st.composite
def batch_norms(draw):
    channels = draw(st.integers(1, 40))
    shape = (*draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)), channels)
    bits = draw(BITS)
    call = LoweredBatchNorm(
        layer="norm",
        inputs=(draw(operands(shape, bits=bits)),),
        output=draw(operands(shape, "y", bits)),
        factors=draw(arrays((channels,), np.int16)),
        stage=draw(stages(channels, bits, bits - 8)),
    )
    return call, draw(arrays(shape, CODES[bits]))


@given(batch_norms())
@examples(60)
def test_batch_norm_equals_reference(case):
    call, codes = case
    assert_equals_reference(call, [codes], ("portable", "pairs"))


@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(bits):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 6, 6, 10)).astype(np.float32)
    weight = rng.normal(size=(3, 3, 1, 10)).astype(np.float32)
    layer = Convolution(
        name="depthwise",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
        groups=10,
        clamp=NO_CLAMP,
        output_channels=10,
    )
    result, seen, step = run_layer(layer, {"x": x}, (-12, 12), {"w": weight}, bits=bits)
    assert_within(result, float_convolution(seen["x"], seen["w"], layer), step)


@pytest.mark.parametrize("bits", [8, 16])
def test_batch_norm_close_to_float(bits):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(1, 4, 5, 12)).astype(np.float32)
    scale, shift = rng.normal(size=(2, 12)).astype(np.float32)
    layer = BatchNorm(
        name="norm",
        inputs=("x",),
        outputs=("y",),
        scale="scale",
        shift="shift",
        clamp=Clamp(-2.0, 2.0),
    )
    constants = {"scale": scale, "shift": shift}
    result, seen, step = run_layer(layer, {"x": x}, (-2, 2), constants, bits=bits)
    steps = 0.75 if bits == 8 else 2  # factors of 16 bits are as coarse as the codes
    assert_within(result, np.clip(seen["x"] * scale + shift, -2, 2), step, steps)
