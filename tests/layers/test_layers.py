"""Shape rules, MACs and parameters of the layer types."""

import numpy as np
import onnx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from hexsim.layers import (
    NO_CLAMP,
    RELU,
    AxisSlice,
    Clamp,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    Pad,
    Pooling,
    Resize,
    StridedSlice,
    Window,
)

sizes = st.integers(1, 12)
small = st.integers(1, 3)
pad = st.integers(0, 2)


def _onnx_pool_shape(window: Window, height: int, width: int) -> tuple[int, ...]:
    """Output size as onnx.shape_inference sees it."""
    node = helper.make_node(
        "MaxPool",
        ["x"],
        ["y"],
        kernel_shape=window.kernel,
        strides=window.strides,
        pads=window.pads,
        ceil_mode=int(window.ceil_mode),
        dilations=window.dilations,
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, height, width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    model = helper.make_model(
        helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 22)]
    )
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    dims = inferred.graph.output[0].type.tensor_type.shape.dim
    return tuple(d.dim_value for d in dims)[2:]


@given(sizes, sizes, small, small, small, small, pad, pad, pad, pad, small, st.booleans())
def test_window_sizes_equal_onnx(
    h: int,
    w: int,
    kh: int,
    kw: int,
    sh: int,
    sw: int,
    top: int,
    left: int,
    bottom: int,
    right: int,
    dilation: int,
    ceil: bool,
) -> None:
    window = Window((kh, kw), (sh, sw), (top, left, bottom, right), (dilation, dilation), ceil)
    assume(top + h + bottom >= window.reach[0] and left + w + right >= window.reach[1])
    assume(max(top, bottom) < kh and max(left, right) < kw)
    assert window.output_size(h, w) == _onnx_pool_shape(window, h, w)


def test_grouped_convolution_counts() -> None:
    conv2 = Convolution(
        name="conv2",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        window=Window((5, 5), pads=(2, 2, 2, 2)),
        groups=2,
        output_channels=256,
    )
    ((*shape,),) = conv2.output_shapes([(1, 27, 27, 96)])
    assert shape == [1, 27, 27, 256]
    assert conv2.macs([(1, 27, 27, 96)], [(1, 27, 27, 256)]) == 223_948_800
    assert conv2.parameters == ("w", "b")
    assert not conv2.is_depthwise(96)


def test_fully_connected_flattens() -> None:
    fc6 = FullyConnected(
        name="fc6", inputs=("x",), outputs=("y",), weight="w", output_channels=4096
    )
    assert fc6.output_shapes([(2, 6, 6, 256)]) == ((2, 4096),)
    assert fc6.macs([(2, 6, 6, 256)], [(2, 4096)]) == 2 * 9216 * 4096


def test_elementwise_broadcasts_as_numpy() -> None:
    add = Elementwise(name="a", inputs=("x", "y"), outputs=("z",), kind="sum")
    assert add.output_shapes([(1, 4, 4, 8), (8,)]) == ((1, 4, 4, 8),)


def test_global_pooling_is_a_pooling_as_large_as_its_input() -> None:
    pool = Pooling(name="p", inputs=("x",), outputs=("y",), kind="average", window=Window((7, 7)))
    assert pool.is_global(7, 7)
    assert not pool.is_global(8, 8)
    assert pool.output_shapes([(1, 7, 7, 1024)]) == ((1, 1, 1, 1024),)


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-9, 9), st.floats(-9, 9))
def test_clamps_compose(a: float, b: float, c: float, d: float) -> None:
    first, second = Clamp(min(a, b), max(a, b)), Clamp(min(c, d), max(c, d))
    both = first.then(second)
    x = np.linspace(-10, 10, 41)
    expected = np.clip(np.clip(x, first.low, first.high), second.low, second.high)
    np.testing.assert_array_equal(np.clip(x, both.low, both.high), expected)
    assert NO_CLAMP.then(first) == first


def test_clamp_knows_whether_it_limits() -> None:
    assert RELU.limits
    assert not NO_CLAMP.limits
    with pytest.raises(AttributeError):
        RELU.low = 1.0  # type: ignore[misc]


def test_a_slice_says_what_it_takes_and_refuses_what_is_not_there() -> None:
    parts = (AxisSlice(1, 1, 8, 3), AxisSlice(2, 0, 4))
    layer = StridedSlice(name="s", inputs=("x",), outputs=("y",), parts=parts)
    assert layer.output_shapes([(1, 8, 5)]) == ((1, 3, 4),)
    assert [str(part) for part in parts] == ["axis 1: 1 to 8 step 3", "axis 2: 0 to 4"]
    with pytest.raises(ValueError, match="8 positions asked of axis 1"):
        layer.output_shapes([(1, 7, 5)])


def test_padding_adds_to_both_ends() -> None:
    layer = Pad(name="p", inputs=("x",), outputs=("y",), begins=(0, 1, 2), ends=(0, 0, 3))
    assert layer.output_shapes([(1, 8, 5)]) == ((1, 9, 10),)
    assert layer.interior((1, 8, 5)) == (slice(0, 1), slice(1, 9), slice(2, 7))


def test_deconvolution_counts() -> None:
    up = Deconvolution(
        name="up",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        window=Window((4, 4), (2, 2), (1, 1, 1, 1)),
        groups=2,
        output_channels=8,
    )
    assert up.output_shapes([(1, 5, 6, 16)]) == ((1, 10, 12, 8),)
    assert up.macs([(1, 5, 6, 16)], [(1, 10, 12, 8)]) == 5 * 6 * 16 * 16 * 4
    phases = up.phases(5, 6)
    assert (phases.window, phases.counts) == (Window((2, 2), pads=(1, 1, 1, 1)), (2, 2))
    assert (phases.crop, phases.number) == ((1, 1), 4)
    whole = up.replace(window=Window((2, 2), (2, 2)))
    assert whole.phases(5, 6).window == Window((1, 1))


@given(sizes, small, small, pad, pad, st.integers(1, 4), st.integers(1, 2))
def test_phases_hold_the_whole_output(
    size: int, stride: int, dilation: int, begin: int, end: int, kernel: int, more: int
) -> None:
    reach = (kernel - 1) * dilation + 1
    assume(begin < reach and end < reach and more < max(stride, dilation))
    up = Deconvolution(
        name="up",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        window=Window((kernel, 1), (stride, 1), (begin, 0, end, 0), (dilation, 1)),
        output_padding=(more, 0),
        output_channels=1,
    )
    ((_, height, _, _),) = up.output_shapes([(1, size, 3, 1)])
    assume(height > 0)
    phases = up.phases(size, 3)
    assert min(phases.window.pads) >= 0
    rows, columns = phases.window.output_size(size, 3)
    assert columns == 3
    assert rows * stride >= phases.crop[0] + height > (rows - 1) * stride


def test_resize_by_scales_rounds_down_and_to_a_size_does_not_move() -> None:
    scaled = Resize(name="r", inputs=("x",), outputs=("y",), kind="nearest", scales=(1.5, 0.5))
    assert scaled.output_shapes([(1, 3, 5, 8)]) == ((1, 4, 2, 8),)
    assert scaled.scales_of(3, 5) == (1.5, 0.5)
    fixed = scaled.replace(scales=None, size=(6, 5))
    assert fixed.output_shapes([(1, 3, 5, 8)]) == ((1, 6, 5, 8),)
    assert fixed.scales_of(3, 5) == (2, 1)
    with pytest.raises(ValueError, match="neither scales nor a size"):
        scaled.replace(scales=None).output_shapes([(1, 3, 5, 8)])
