import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.layers import Gather, Pad, Tile
from hexsim.lowering.movement import LoweredGather, LoweredTile
from tests.int8.drawn import BITS, CODES, arrays, assert_equals_reference, operands
from tests.int8.single_layer import assert_within, run_layer
from tests.thorough import examples

TABLES = {bits: st.none() | arrays((2**bits,), CODES[bits]) for bits in (8, 16)}


@given(st.data())
@examples(50)
def test_gather_equals_reference(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    taken, result = [], list(shape)
    for axis in sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))):
        positions = data.draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=6))
        taken.append((axis, np.array(positions, np.int32)))
        result[axis] = len(positions)
    bits = data.draw(BITS)
    call = LoweredGather(
        layer="gather",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(result, "y", bits)),
        places=tuple(taken),
        table=data.draw(TABLES[bits]),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


@given(st.data())
@examples(50)
def test_tile_equals_reference(data):
    pairs = data.draw(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), max_size=4))
    shape, bits = tuple(size for size, _ in pairs), data.draw(BITS)
    call = LoweredTile(
        layer="tile",
        inputs=(data.draw(operands(shape, bits=bits)),),
        output=data.draw(operands(tuple(size * times for size, times in pairs), "y", bits)),
        repeats=tuple(times for _, times in pairs),
        table=data.draw(TABLES[bits]),
    )
    assert_equals_reference(call, [data.draw(arrays(shape, CODES[bits]))])


X = np.random.default_rng(3).normal(size=(1, 3, 4, 5)).astype(np.float32)
MOVES = {
    "gather": (
        Gather(name="g", inputs=("x",), outputs=("y",), axis=3, indices=(4, 0, 0, 2)),
        lambda x: x[..., [4, 0, 0, 2]],
    ),
    "tile": (
        Tile(name="t", inputs=("x",), outputs=("y",), repeats=(2, 1, 3, 2)),
        lambda x: np.tile(x, (2, 1, 3, 2)),
    ),
    **{
        mode: (
            Pad(
                name="p",
                inputs=("x",),
                outputs=("y",),
                begins=(0, 4, 0, 1),
                ends=(0, 0, 2, 9),
                mode=mode,
            ),
            lambda x, mode=mode: np.pad(x, ((0, 0), (4, 0), (0, 2), (1, 9)), mode=mode),
        )
        for mode in ("reflect", "edge", "wrap")
    },
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("bits", [8, 16])
def test_close_to_float(name, bits):
    layer, expected = MOVES[name]
    result, seen, step = run_layer(layer, {"x": X}, (-4, 5), bits=bits)
    assert_within(result, expected(seen["x"]), step)
