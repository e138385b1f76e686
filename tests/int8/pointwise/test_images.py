import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Pooling, Resize, Window
from hexsim.layers.images import CoordinateMode, NearestMode
from hexsim.lowering.images import (
    COLUMN_BITS,
    ROW_BITS,
    WEIGHT_BITS,
    LoweredAveragePool,
    LoweredAveragePool16,
    LoweredBilinear,
    LoweredBilinear16,
    LoweredDoubling,
    LoweredMaxPool,
    LoweredNearest,
    lower_resize,
    means_of_codes,
    scaled_means,
)
from hexsim.lowering.source import QuantizedSource
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from tests.int8 import naive
from tests.int8.drawn import (
    BITS,
    CODES,
    SEEDS,
    arrays,
    assert_equals_reference,
    operands,
    stages,
    windows,
)
from tests.int8.single_layer import assert_within, quantized, run_layer, subnet_of
from tests.thorough import examples


@st.composite
def pooled(draw):
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    channels = draw(st.sampled_from([1, 3, 32, 65]))
    bits = draw(BITS)
    x = draw(operands((draw(st.integers(1, 2)), height, width, channels), bits=bits))
    window = draw(windows(height, width))
    shape = (x.shape[0], *window.output_size(height, width), channels)
    return x, window, draw(operands(shape, "y", bits)), draw(arrays(x.shape, CODES[bits]))


@given(pooled(), st.data())
@examples(80)
def test_max_equals_reference(case, data):
    x, window, output, codes = case
    table = data.draw(st.none() | arrays((2**x.bits,), CODES[x.bits]))
    call = LoweredMaxPool(layer="max", inputs=(x,), output=output, window=window, table=table)
    assert_equals_reference(call, [codes])


@given(pooled(), st.data())
@examples(80)
def test_average_equals_reference(case, data):
    x, window, output, codes = case
    entries = data.draw(st.integers(1, 4))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    entry_of = random.integers(0, entries, output.shape[1:3], np.int32)
    parts = {"layer": "average", "inputs": (x,), "output": output, "window": window}
    if x.bits == 8:
        counts = random.integers(1, window.taps + 1, entries)
        means = (
            means_of_codes(counts, window.taps, x.zero_point)
            if data.draw(st.booleans())
            else scaled_means(x.delta / counts, output.encoding)
        )
        call = LoweredAveragePool(**parts, means=means, entry_of=entry_of)
    else:
        stage = data.draw(stages(entries, x.bits, x.bits - 8))
        call = LoweredAveragePool16(**parts, stage=stage, stage_of=entry_of)
    assert_equals_reference(call, [codes])


@pytest.mark.parametrize("places", [1, 2, 4, 9, 16, 25, 49, 81, 6400])
def test_means_of_codes_are_within_a_hundredth_of_a_tie(places):
    counts = np.unique([places, max(places // 2, 1), max(places // 3, 1), 1])
    for entry, count in enumerate(counts):
        sums = np.linspace(0, 255 * count, 2000).astype(np.int64)
        means = means_of_codes(counts, places, 0)
        codes = means.apply(sums[:, None], np.full(2000, entry, np.int32))[:, 0]
        assert np.abs(codes - sums / count).max() <= 0.5 + 0.016  # 1/64 from `last`


@pytest.mark.parametrize("delta", [4.0, 1.0, 0.3, 0.01, 0.0003])
def test_scaled_means_are_close(delta):
    output = Encoding(8, -100 * delta, 155 * delta, delta, -100)
    sums = np.linspace(-100 * delta / 0.02, 155 * delta / 0.02, 500).astype(np.int64)
    means = scaled_means(np.array([0.02]), output)
    codes = means.apply(sums[:, None], np.zeros(500, np.int32))[:, 0]
    # A tie may come from the rounding before, half a unit of u.
    assert np.abs(codes - 100 - sums * 0.02 / delta).max() <= 0.51 + 0.25 * min(0.02 / delta, 1)


@pytest.mark.parametrize("include_pad", [False, True])
@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(kind, include_pad, bits):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(1, 7, 9, 5)).astype(np.float32)
    window = Window((3, 3), (2, 2), (1, 1, 1, 1), ceil_mode=True)
    layer = Pooling(
        name="pool",
        inputs=("x",),
        outputs=("y",),
        kind=kind,
        window=window,
        count_include_pad=include_pad,
    )
    result, seen, step = run_layer(layer, {"x": x}, (-3, 3), bits=bits)
    expected = np.empty(result.shape)
    for n, oy, ox in naive.pixels(expected.shape):
        inside = [seen["x"][n, y, xx] for _, _, y, xx in naive.taps(window, x.shape, oy, ox)]
        count = 9 if include_pad else len(inside)  # no window leaves the padded input here
        of_kind = np.max(inside, axis=0) if kind == "max" else np.sum(inside, axis=0) / count
        expected[n, oy, ox] = of_kind
    assert_within(result, np.clip(expected, -3, 3), step)


TARGETS = (
    {"scales": (2.0, 3.0)},
    {"scales": (1.7, 0.6)},
    {"scales": (0.5, 1.0)},
    {"size": (1, 17)},
    {"size": (14, 4)},
)


def layer_of(kind, **attributes):
    return Resize(name="r", inputs=("x",), outputs=("y",), kind=kind, **attributes)


@st.composite
def sampled(draw):
    bits, channels = draw(BITS), draw(st.sampled_from([1, 3, 16, 33]))
    batch, height, width = draw(st.integers(1, 2)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    x = draw(operands((batch, height, width, channels), bits=bits))
    wanted = (draw(st.integers(1, 9)), draw(st.integers(1, 9)))
    output = draw(operands((batch, *wanted, channels), "y", bits))
    return (
        x,
        output,
        draw(arrays(x.shape, CODES[bits])),
        np.random.default_rng(draw(SEEDS)),
    )


@given(sampled(), st.data())
@examples(80)
def test_nearest_equals_reference(case, data):
    x, output, codes, random = case
    rows, columns = (
        random.integers(0, x.shape[axis], output.shape[axis], np.int32) for axis in (1, 2)
    )
    table = data.draw(st.none() | arrays((2**x.bits,), CODES[x.bits]))
    call = LoweredNearest(
        layer="r", inputs=(x,), output=output, rows=rows, columns=columns, table=table
    )
    assert_equals_reference(call, [codes])


@given(sampled(), st.data())
@examples(100)
def test_bilinear_equals_reference(case, data):
    x, output, codes, random = case

    def between(axis, bits):
        first, second = random.integers(0, x.shape[axis], (2, output.shape[axis]), np.int32)
        whole = 1 << bits
        weights = random.choice([0, 1, whole // 4, whole - 1, whole], output.shape[axis])
        return np.stack([first, second, weights], axis=1).astype(np.int32)

    parts = {"layer": "r", "inputs": (x,), "output": output}
    if x.bits == 8:
        table = data.draw(st.none() | arrays((256,), CODES[8]))
        call = LoweredBilinear(
            **parts, rows=between(1, ROW_BITS), columns=between(2, COLUMN_BITS), table=table
        )
    else:
        stage = data.draw(stages(1, 16, data.draw(st.sampled_from([8, 24]))))
        rows, columns = between(1, WEIGHT_BITS), between(2, WEIGHT_BITS)
        call = LoweredBilinear16(**parts, rows=rows, columns=columns, stage=stage)
    assert_equals_reference(call, [codes])


@given(st.data())
@examples(60)
def test_doubling_equals_reference(data):
    height, width = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 9))
    batch, channels = data.draw(st.integers(1, 2)), data.draw(st.sampled_from([1, 3, 16, 33]))
    x = data.draw(operands((batch, height, width, channels)))
    output = data.draw(operands((batch, 2 * height, 2 * width, channels), "y"))
    call = LoweredDoubling(
        layer="r",
        inputs=(x,),
        output=output,
        up_from=2 * data.draw(st.integers(0, width)),
        table=data.draw(st.none() | arrays((256,), CODES[8])),
    )
    assert_equals_reference(call, [data.draw(arrays(x.shape, CODES[8]))])


def in_floats(layer, x, shape):
    tensors = {"x": Tensor("x", x.shape), "y": Tensor("y", shape)}
    network = Network("one", (layer,), tensors, {}, ("x",), ("y",))
    return FloatEngine(network).run({"x": x})["y"]


@pytest.mark.parametrize("coordinates", get_args(CoordinateMode))
def test_nearest_moves_the_codes_that_onnxruntime_moves(coordinates):
    x = np.arange(7 * 10 * 3, dtype=np.float32).reshape(1, 7, 10, 3)
    encoding = Encoding.from_range(0, 255)
    for rounding, target in itertools.product(get_args(NearestMode), TARGETS):
        layer = layer_of("nearest", coordinates=coordinates, rounding=rounding, **target)
        model = quantized([layer], {"x": x.shape}, {}, {"x": encoding, "y": encoding}, ["y"])
        result = subnet_of(model).run({"x": x})["y"]
        np.testing.assert_array_equal(result, in_floats(layer, x, result.shape), f"{layer}")


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("coordinates", get_args(CoordinateMode))
def test_bilinear_is_close_to_float(coordinates, bits):
    x = np.random.default_rng(1).uniform(-1, 2, (2, 7, 10, 5)).astype(np.float32)
    for target in TARGETS:
        layer = layer_of("bilinear", coordinates=coordinates, **target)
        result, seen, step = run_layer(layer, {"x": x}, (-1, 2), bits=bits)
        expected = in_floats(layer, seen["x"].astype(np.float32), result.shape)
        # Positions are off by half a unit of the weight, and neighbours by at most 3.
        off = 2.0**-8 + 2.0**-16 if bits == 8 else 2 * 2.0**-16
        assert_within(result, expected, step, 0.51 + 3 * off / step)


def one_row(layer, codes):
    """The codes that a row of codes becomes in the same encoding, and the lowered call."""
    encoding = Encoding(8, -0.2, 4.9, 0.02, -10)
    feed = encoding.dequantize(np.array(codes, np.uint8).reshape(1, 1, -1, 1)).astype(np.float32)
    model = quantized([layer], {"x": feed.shape}, {}, {"x": encoding, "y": encoding}, ["y"])
    result = subnet_of(model).run({"x": feed})["y"]
    rows = encoding.quantize(result)[0, :, :, 0].tolist()
    return rows, lower_resize(layer, QuantizedSource(model, False))


def test_worked_example():
    """Codes 10 and 20 with two pixels between them, of the contract."""
    rows, call = one_row(layer_of("bilinear", size=(1, 4), coordinates="align_corners"), [10, 20])
    assert isinstance(call, LoweredBilinear)
    assert call.columns.tolist() == [[0, 1, 0], [0, 1, 10923], [0, 1, 21845], [1, 1, 0]]
    assert rows == [[10, 13, 17, 20]]


def test_worked_example_of_twice_the_size():
    """Columns are rounded down, here in the only vector, in which rows are rounded up."""
    rows, call = one_row(layer_of("bilinear", size=(2, 4), coordinates="asymmetric"), [10, 21])
    assert isinstance(call, LoweredDoubling)
    assert call.up_from == 0
    assert rows == [[10, 15, 21, 21]] * 2
