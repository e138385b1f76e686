import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import Pooling, Window
from hexsim.lowering.pooling import (
    LoweredAveragePool,
    LoweredAveragePool16,
    LoweredMaxPool,
    means_of_codes,
    scaled_means,
)
from hexsim.quantization.encodings import Encoding
from tests.int8 import naive
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands, stages, windows
from tests.int8.single_layer import assert_within, run_layer
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
