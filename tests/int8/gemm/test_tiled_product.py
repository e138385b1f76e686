"""The requantise stages of tiles, at the edges of int32 and of rounding; products are in
test_convolution.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.dispatch import prepare
from hexsim.int8.gemm import tiled_product
from hexsim.int8.gemm.tiled_product import PanelTable, pieces
from hexsim.int8.machine_code.inner_loops.microkernel import DOTS_512
from hexsim.int8.step import FIRST, LAST
from hexsim.layers import Window
from hexsim.lowering import Operand, Requantize, Weights
from hexsim.lowering.products import LoweredConvolution
from tests.int8.drawn import assert_equals_reference, encoding
from tests.int8.single_layer import execute
from tests.int8.test_requantize import CASES
from tests.thorough import examples

CODES = np.arange(11 * 64, dtype=np.uint8).reshape(1, 1, 11, 64)
"""Not a multiple of the rows of any tile."""
KINDS = {"dense": (4, 1), "grouped": (2, 2), "depthwise": (1, None)}


def with_accumulators(kind, accumulator, multiplier, shift, limits):
    """A convolution whose weights are zero, so that its accumulators are its preloads."""
    channels = len(accumulator)
    deep, groups = KINDS[kind]
    groups = groups or channels
    call = LoweredConvolution(
        layer="conv",
        inputs=(Operand("x", (1, 1, 11, deep * groups), encoding(3)),),
        output=Operand("y", (1, 1, 11, channels), encoding(0)),
        weights=Weights(np.zeros((1, 1, deep, channels), np.int8), 0, np.ones(channels)),
        window=Window((1, 1)),
        groups=groups,
        stage=Requantize(accumulator, multiplier, shift, *limits),
    )
    return call, np.ascontiguousarray(CODES[..., : deep * groups])


@given(
    st.sampled_from(list(KINDS)),
    st.lists(CASES, min_size=18, max_size=64).filter(lambda cases: len(cases) % 2 == 0),
    st.booleans(),
    st.tuples(st.integers(0, 255), st.integers(0, 255)),
)
@examples(60)
def test_any_accumulator(kind, cases, shifted, limits):
    accumulator, multiplier, shift = np.array(cases, np.int32).T.copy()
    if not shifted:
        shift[:] = 0
    call, codes = with_accumulators(kind, accumulator, multiplier, shift, sorted(limits))
    assert_equals_reference(call, [codes], ("portable", "pairs", "guarded", "dots"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("multiplier", [1, 2**22 + 1, 2**30, 2**31 - 1])
def test_around_rounding_boundaries(kind, multiplier):
    codes = np.array([1, 2, 127, 128, 254, 255, 256, 32767, 32768, 40000], np.int64)
    edge = -(-(codes * 2**31 - 2**30) // multiplier)  # least accumulator that gives `codes`
    edge = np.concatenate([edge, edge - 1, -edge, -edge - 1])
    accumulator = edge.clip(-(2**31), 2**31 - 1).astype(np.int32)
    same = np.full(accumulator.size, multiplier, np.int32)
    call, x = with_accumulators(kind, accumulator, same, np.zeros_like(same), (0, 255))
    assert_equals_reference(call, [x], ("portable", "pairs", "guarded", "dots"))


def test_nothing_is_written_beside_the_output(monkeypatch):
    channels = 21
    rng = np.random.default_rng(4)
    preload = rng.integers(0, 255, channels, np.int32)
    half = np.full(channels, 2**30, np.int32)
    call, x = with_accumulators("dense", preload, half, np.zeros_like(half), (0, 255))
    for algorithm in ("pairs", "guarded", "dots"):
        monkeypatch.setenv("HEXSIM_KERNELS", algorithm)
        room = np.full(11 * channels + 64, 77, np.uint8)
        execute(prepare(call), [x], room[32:-32].reshape(1, 1, 11, channels))
        assert (room[:32] == 77).all()
        assert (room[-32:] == 77).all()
        np.testing.assert_array_equal(
            room[32:-32].reshape(11, channels), np.tile((preload + 1) // 2, (11, 1))
        )


@pytest.mark.parametrize(
    ("pixels", "panels", "expected"),
    [
        (49, 8, ((0, 49, FIRST, LAST), (8, 2))),
        (49, 2, ((FIRST, LAST, 0, 2), (49, 7))),
        (12544, 8, ((FIRST, LAST, 0, 8), (12544, 7))),
    ],
)
def test_threads_share_panels_where_pixels_are_few(pixels, panels, expected):
    assert pieces(pixels, panels, 7, 2) == expected


def test_the_table_has_a_row_for_each_panel_in_the_kernels_order():
    panel = np.arange(3)
    table = PanelTable(
        first_step=9 * panel, twos=4, ones=1, offsets=0, input=32 * panel, addends=0,
        column=16 * panel, rest=40 - 16 * panel,
    ).stacked(DOTS_512)  # fmt: skip
    assert table.dtype == np.int64
    assert table.flags.c_contiguous
    for column, name in enumerate(PanelTable._fields):
        assert getattr(tiled_product, name.upper()) == column
    assert table[2].tolist() == [18, 4, 1, 0, 64, 0, 32, 8, 1]
    assert table[:, tiled_product.TOGETHER].tolist() == [2, 2, 1]
