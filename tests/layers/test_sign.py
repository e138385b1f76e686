"""Which layers may write negative numbers, and when."""

import pytest

from hexsim.graph.ir import Layer, Sign
from hexsim.layers import (
    RELU6,
    AxisSlice,
    Clamp,
    Concat,
    Elementwise,
    Neuron,
    Pad,
    Pooling,
    Softmax,
    StridedSlice,
    Window,
)

IO = {"name": "l", "inputs": ("x",), "outputs": ("y",)}


@pytest.mark.parametrize(
    ("layer", "sign"),
    [
        (Softmax(**IO, axes=(1,)), "unsigned"),
        (Neuron(**IO, function="sigmoid"), "unsigned"),
        (Neuron(**IO, function="clamp", clamp=RELU6), "unsigned"),
        (Neuron(**IO, function="clamp", clamp=Clamp(-1.0, 1.0)), "as inputs"),
        (Neuron(**IO, function="tanh"), "as inputs"),
        (Pooling(**IO, kind="average", window=Window((2, 2))), "as inputs"),
        (StridedSlice(**IO, parts=(AxisSlice(1, 0, 2),)), "as inputs"),
        (Concat(**IO, axis=1), "as inputs"),
        (Pad(**IO, begins=(0, 1), ends=(0, 0), value=-1.0), "signed"),
        (Elementwise(**IO, kind="product"), "as inputs"),
        (Elementwise(**IO, kind="sub"), "signed"),
        (Layer(**IO), "signed"),
    ],
)
def test_what_an_output_may_be(layer: Layer, sign: Sign) -> None:
    assert layer.sign == sign
