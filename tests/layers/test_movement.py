"""Which layers leave codes as they are."""

import pytest

from hexsim.graph.ir import Layer
from hexsim.layers import AxisSlice, Neuron, Pad, Pooling, Resize, StridedSlice, Window

IO = {"name": "l", "inputs": ("x",), "outputs": ("y",)}


@pytest.mark.parametrize(
    ("layer", "moves"),
    [
        (Pooling(**IO, kind="max", window=Window((2, 2))), True),
        (Pooling(**IO, kind="average", window=Window((2, 2))), False),
        (StridedSlice(**IO, parts=(AxisSlice(1, 0, 2),)), True),
        (Pad(**IO, begins=(0, 1), ends=(0, 0)), True),
        (Pad(**IO, begins=(0, 1), ends=(0, 0), value=1.0), False),
        (Resize(**IO, kind="nearest", size=(9, 9)), True),
        (Resize(**IO, kind="bilinear", size=(9, 9)), False),
        (Neuron(**IO, function="tanh"), False),
    ],
)
def test_who_moves_codes(layer: Layer, moves: bool) -> None:
    assert layer.moves_codes == moves
