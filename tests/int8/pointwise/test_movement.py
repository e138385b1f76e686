import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.pointwise.movement import copy, merged_axes
from hexsim.layers import AxisSlice, ChannelShuffle, Concat, Pad, Permute, Reshape, StridedSlice
from hexsim.lowering.movement import LoweredConcat, LoweredPad, LoweredRearrange, LoweredSlice
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands
from tests.int8.guarded_memory import BEFORE, BEHIND, guarded, run_guarded
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

TABLES = {bits: st.none() | arrays((2**bits,), CODES[bits]) for bits in (8, 16)}


@given(st.data())
@examples(50)
def test_concat_equals_reference(data):
    axis, bits = data.draw(st.integers(0, 3)), data.draw(BITS)
    shapes = []
    for size in data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)):
        shape = [2, 3, 4, 5]
        shape[axis] = size
        shapes.append(tuple(shape))
    joined = [2, 3, 4, 5]
    joined[axis] = sum(shape[axis] for shape in shapes)
    call = LoweredConcat(
        layer="concat",
        inputs=tuple(data.draw(operands(shape, f"x{i}", bits)) for i, shape in enumerate(shapes)),
        output=data.draw(operands(joined, "y", bits)),
        axis=axis,
        tables=tuple(data.draw(TABLES[bits]) for _ in shapes),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits])) for shape in shapes])


@given(st.data())
@examples(50)
def test_rearrange_equals_reference(data):
    split = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    permutation = tuple(data.draw(st.permutations(range(len(split)))))
    shape = tuple(split[axis] for axis in permutation)
    bits = data.draw(BITS)
    call = LoweredRearrange(
        layer="move",
        inputs=(data.draw(operands(split, bits=bits)),),
        output=data.draw(operands(shape, "y", bits)),
        split=split,
        permutation=permutation,
        table=data.draw(TABLES[bits]),
    )
    assert_equals_reference(call, [data.draw(arrays(split, CODES[bits]))])


@given(st.data())
@examples(50)
def test_slice_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    parts = []
    for axis, size in enumerate(shape):
        if data.draw(st.booleans()):
            start = data.draw(st.integers(0, size - 1))
            stop = data.draw(st.integers(start + 1, size))
            parts.append(AxisSlice(axis, start, stop, data.draw(st.integers(1, 3))))
    layer = StridedSlice(name="s", inputs=("x",), outputs=("y",), parts=tuple(parts))
    (result,) = layer.output_shapes([shape])
    bits = data.draw(BITS)
    call = LoweredSlice(
        layer="s",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(result, "y", bits)),
        selection=layer.selection(len(shape)),
        table=data.draw(TABLES[bits]),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@given(st.data())
@examples(50)
def test_pad_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    begins, ends = (tuple(data.draw(st.integers(0, 3)) for _ in shape) for _ in range(2))
    layer = Pad(name="p", inputs=("x",), outputs=("y",), begins=begins, ends=ends)
    (result,) = layer.output_shapes([shape])
    bits = data.draw(BITS)
    call = LoweredPad(
        layer="p",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(result, "y", bits)),
        interior=layer.interior(shape),
        fill=data.draw(st.integers(0, 255)),
        table=data.draw(TABLES[bits]),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@pytest.mark.parametrize("bits", [8, 16])
def test_concat_close_to_float(bits):
    rng = np.random.default_rng(10)
    feeds = {
        n: (s * rng.normal(size=(1, 3, 3, 4))).astype(np.float32)
        for n, s in zip("ab", (1, 4), strict=True)
    }
    layer = Concat(name="c", inputs=("a", "b"), outputs=("y",), axis=3)
    result, seen, step = run_layer(layer, feeds, (-20, 20), bits=bits)
    assert_within(result, np.concatenate([seen["a"], seen["b"]], axis=3), step)


def test_rearrangements_keep_their_values():
    x = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
    common = {"name": "m", "inputs": ("x",), "outputs": ("y",)}
    shuffled = x.reshape(2, 3, 4, 2, 3).swapaxes(3, 4).reshape(x.shape)
    for layer, expected in [
        (Permute(**common, permutation=(0, 3, 1, 2)), x.transpose(0, 3, 1, 2)),
        (Reshape(**common, shape=(2, 72)), x.reshape(2, 72)),
        (ChannelShuffle(**common, groups=2), shuffled),
        (
            Pad(**common, begins=(0, 1, 0, 2), ends=(0, 0, 3, 1), value=100.0),
            np.pad(x, ((0, 0), (1, 0), (0, 3), (2, 1)), constant_values=100.0),
        ),
        (
            StridedSlice(**common, parts=(AxisSlice(3, 1, 6, 2), AxisSlice(1, 2, 3))),
            x[:, 2:3, :, 1:6:2],
        ),
    ]:
        same, _, step = run_layer(layer, {"x": x}, (0, 143))
        assert_within(same, expected, step)
        wider, _, step = run_layer(layer, {"x": x}, (-100, 200))
        assert_within(wider, expected, step, steps=1.0)  # two roundings, the input's and its own


@st.composite
def views(draw, shape, array):
    """A view of that shape into `array` (which is large enough): permuted, stepped, reversed."""
    order = draw(st.permutations(range(len(shape))))
    cuts = []
    for size in (shape[axis] for axis in order):
        step = draw(st.sampled_from([1, 1, 2, -1, -3]))
        start = draw(st.integers(0, 1)) if step > 0 else (size - 1) * -step
        stop = start + size * step
        cuts.append(slice(start, stop if stop >= 0 else None, step))
    full = array.reshape((12,) * len(shape))
    return full[tuple(cuts)].transpose(np.argsort(order))


@given(st.data())
@examples(60)
def test_equals_numpy(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    kind = data.draw(st.sampled_from([np.uint8, np.uint16]))
    for pieces, side in ((1, BEHIND), (3, BEFORE)):
        numbers = np.arange(12 ** len(shape)).astype(kind)
        source = data.draw(views(shape, guarded(numbers, side)))
        memory = guarded(np.full(numbers.size, 77, kind), side)
        target = data.draw(views(shape, memory))
        before = memory.copy()
        run_guarded(copy(source, target), pieces, side)
        np.testing.assert_array_equal(target, source)
        target[...] = 77
        np.testing.assert_array_equal(memory, before)  # nothing else was written


def test_an_element_repeats_along_an_axis_without_step():
    source = np.arange(3, dtype=np.uint8)
    target = np.zeros((4, 3, 5), np.uint8)
    spread = np.lib.stride_tricks.as_strided(source, target.shape, (0, 1, 0))
    copy(spread, target)()
    np.testing.assert_array_equal(target, spread)


def test_axes_merge_where_all_arrays_go_on_evenly():
    assert merged_axes((2, 3, 4), [(12, 4, 1), (24, 8, 2)]) == ([1, 24], [(0, 1), (0, 2)])
    assert merged_axes((2, 3, 4), [(12, 4, 1), (0, 0, 1)]) == ([6, 4], [(4, 1), (0, 1)])
    assert merged_axes((1, 1), [(1, 1)]) == ([1, 1], [(0, 0)])


def test_a_scalar_is_copied_where_it_is():
    target = np.zeros((), np.uint8)
    copy(np.array(5, np.uint8), target)()
    assert target == 5
