import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.int8.gemm.deconvolution import as_convolution
from hexsim.layers import RELU, Deconvolution, Window
from hexsim.lowering import Operand, Weights
from hexsim.lowering.products import LoweredDeconvolution
from hexsim.lowering.requantize import requantize
from hexsim.onnx_io.float_engine import FloatEngine
from tests.int8.drawn import (
    BITS,
    CODES,
    arrays,
    assert_equals_reference,
    encoding,
    operands,
    stages,
    weights,
)
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

ALL = ("portable", "pairs", "guarded", "dots")


def layer_of(window, channels, groups=1, output_padding=(0, 0), **more):
    return Deconvolution(
        name="up",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        window=window,
        output_padding=output_padding,
        groups=groups,
        output_channels=channels,
        **more,
    )


@st.composite
def deconvolution_windows(draw):
    """Windows and output paddings that leave an output of at least one pixel."""
    kernel, strides, dilations, begin, end, more = [], [], [], [], [], []
    for _ in range(2):
        k, d, s = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
        reach = (k - 1) * d + 1
        before = draw(st.integers(0, reach - 1))
        kernel.append(k)
        dilations.append(d)
        strides.append(s)
        begin.append(before)
        end.append(draw(st.integers(0, reach - 1 - before)))
        more.append(draw(st.integers(0, max(s, d) - 1)))
    window = Window(tuple(kernel), tuple(strides), (*begin, *end), tuple(dilations))
    return window, tuple(more)


@st.composite
def deconvolutions(draw):
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    deep, wide = draw(st.integers(1, 9)), draw(st.sampled_from([1, 5, 16, 17]))
    bits = draw(BITS)
    size = (draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    x = draw(operands((draw(st.integers(1, 2)), *size, groups * deep), bits=bits))
    window, more = draw(deconvolution_windows())
    multiplied = draw(weights((*window.kernel, deep, groups * wide)))
    layer = layer_of(window, groups * wide, groups, more)
    ((*shape,),) = layer.output_shapes([x.shape])
    call = LoweredDeconvolution(
        layer="up",
        inputs=(x,),
        output=draw(operands(shape, "y", bits)),
        weights=multiplied,
        window=window,
        groups=groups,
        phases=layer.phases(*size),
        stage=draw(stages(groups * wide, bits, bits - 8 + multiplied.bits - 8)),
    )
    return call, draw(arrays(x.shape, CODES[bits]))


@given(deconvolutions())
@examples(150)
def test_equals_reference(case):
    call, codes = case
    assert_equals_reference(call, [codes], ALL)


def test_a_stride_as_large_as_the_window_is_a_convolution_of_one_tap():
    window = Window((2, 2), (2, 2))
    layer = layer_of(window, 3)
    codes = np.arange(2 * 2 * 4 * 3, dtype=np.uint8).reshape(2, 2, 4, 3)
    call = LoweredDeconvolution(
        layer="up",
        inputs=(Operand("x", (1, 5, 6, 4), encoding(3)),),
        output=Operand("y", (1, 10, 12, 3), encoding(7)),
        weights=Weights(codes, 9, np.array([0.1, 0.2, 0.3])),
        window=window,
        groups=1,
        phases=layer.phases(5, 6),
        stage=requantize(np.full(3, 0.001), encoding(7)),
    )
    convolution = as_convolution(call)
    assert convolution.window == Window((1, 1))
    assert convolution.output.shape == (1, 5, 6, 12)
    for phase, (row, column) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        ours = convolution.weights.codes[0, 0, :, 3 * phase : 3 * phase + 3]
        np.testing.assert_array_equal(ours, codes[row, column])
    np.testing.assert_array_equal(convolution.weights.steps, [0.1, 0.2, 0.3] * 4)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("signed_weights", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_close_to_float(groups, signed_weights, bits):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(1, 5, 4, 4)).astype(np.float32)
    w = rng.normal(size=(4, 3, 4 // groups, 8)).astype(np.float32) / 4
    b = rng.normal(size=8).astype(np.float32)
    window = Window((4, 3), (2, 2), (1, 0, 1, 1))
    layer = layer_of(window, 8, groups, (1, 0), bias="b", clamp=RELU)
    result, seen, step = run_layer(
        layer, {"x": x}, (0, 6), {"w": w, "b": b}, signed_weights=signed_weights, bits=bits
    )
    constants = {"w": seen["w"].astype(np.float32), "b": b}
    network = Network(
        "one",
        (layer,),
        {"x": Tensor("x", x.shape), "y": Tensor("y", result.shape)},
        {name: Constant(name, array.shape, array) for name, array in constants.items()},
        ("x",),
        ("y",),
    )
    expected = FloatEngine(network).run({"x": seen["x"].astype(np.float32)})["y"]
    # Weights rescaled to signed codes are off by up to half a step of theirs.
    worst = 0.5 * np.abs(w).max() / 127 * np.abs(x).sum(axis=-1).max() * 4 if signed_weights else 0
    assert_within(result, np.clip(expected, 0, 6), step, 0.75 + worst / step)
