"""One end of the range is exact, the other pushed outwards, by the least that makes zero a code.

Every channel has its own step; dead channels have a sensible one.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import Convolution, Window
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.quantization.rules.cut_ranges import EnhancedSymmetric
from hexsim.quantization.rules.rule import Symmetric
from hexsim.quantization.rules.weights import SPREAD, Adjusted, axis_encoding
from tests.deployed import deployed

reals = st.floats(-1e4, 1e4, width=32, allow_subnormal=False)


def test_max_is_pushed_up() -> None:
    # -1.8 / 0.5: zero lies at 199.57 steps. 199 steps of 1.8/199 leave 56 for 0.5 (0.5065);
    # 200 would leave 55, and 0.5/55 is the coarser step.
    encoding = Adjusted().encode(Observation(-1.8, 0.5))
    assert encoding.offset == -199
    np.testing.assert_allclose(
        (encoding.min, encoding.max, encoding.delta), (-1.8, 1.8 / 199 * 56, 1.8 / 199)
    )


def test_min_is_pushed_down() -> None:
    # Mirrored: zero at 55.43, 56 codes below it and 199 above.
    encoding = Adjusted().encode(Observation(-0.5, 1.8))
    assert encoding.offset == -56
    np.testing.assert_allclose((encoding.min, encoding.max), (-1.8 / 199 * 56, 1.8))


@pytest.mark.parametrize("ends", [(0.0, 2.0), (-2.0, 0.0), (0.0, 0.0), (0.5, 2.0)])
def test_ranges_on_one_side_are_those_of_the_default(ends: tuple[float, float]) -> None:
    adjusted, default = Adjusted().encode(Observation(*ends)), Encoding.from_range(*ends)
    assert adjusted.offset == default.offset
    assert adjusted.delta == pytest.approx(default.delta)


@given(reals, reals)
def test_no_value_saturates_and_no_zero_point_has_a_finer_step(first: float, two: float) -> None:
    low, high = min(first, two, 0.0), max(first, two, 0.0)
    encoding = Adjusted().encode(Observation(min(first, two), max(first, two)))
    assert encoding.min <= low + 1e-9 * encoding.delta
    assert encoding.max >= high - 1e-9 * max(high, encoding.delta)
    assert encoding.max - encoding.min >= 0.01 * (1 - 1e-9)
    high = max(high, low + 0.01)
    steps = [
        max(-low / z if z else 0.0, high / (255 - z) if z < 255 else 0.0)
        for z in range(256)
        if (z or low == 0) and (z < 255 or high == 0)
    ]
    assert encoding.delta == pytest.approx(min(steps), rel=1e-9)


def test_channels_span_their_own_magnitude() -> None:
    weight = np.zeros((2, 1, 1, 3), np.float32)
    weight[0, 0, 0], weight[1, 0, 0] = (1.27, -0.001, 0.5), (-0.3, 0.0005, -2.54)
    axis = axis_encoding(weight, Symmetric)
    np.testing.assert_allclose(axis.deltas, (0.01, 0.001 / 127, 0.02), rtol=1e-2)
    assert axis.quantize(weight)[0, 0, 0, 0] == 127
    assert axis.quantize(weight)[1, 0, 0, 2] == -127


@pytest.mark.parametrize("rule", [Symmetric, EnhancedSymmetric])
@pytest.mark.parametrize("tiny", [0.0, 1e-12, -1e-30])
def test_dead_channels_have_a_step_within_reach_of_the_others(
    rule: type[Symmetric | EnhancedSymmetric], tiny: float
) -> None:
    weight = np.random.default_rng(2).normal(0, 1, (3, 3, 4, 5)).astype(np.float32)
    weight[..., 1] = tiny
    axis = axis_encoding(weight, rule)
    assert axis.deltas.max() / axis.deltas[1] <= SPREAD
    assert not axis.quantize(weight)[..., 1].any()
    assert axis.dequantize(axis.quantize(weight))[..., 0] == pytest.approx(
        weight[..., 0], abs=axis.deltas[0]
    )


def test_a_layer_of_zeros_has_steps() -> None:
    axis = axis_encoding(np.zeros((4, 3), np.float32), Symmetric)
    assert (axis.deltas > 0).all()


@pytest.mark.parametrize("bits", [4, 8])
def test_the_enhanced_search_runs_in_every_channel(bits: int) -> None:
    weight = np.random.default_rng(4).standard_t(2, (200, 3)).astype(np.float32)
    axis = axis_encoding(weight, EnhancedSymmetric, bits)
    for channel, encoding in enumerate(axis.channels):
        seen = Observation.of(weight[:, channel], with_histogram=True)
        assert encoding == EnhancedSymmetric(bits).encode(seen)
    assert axis.bitwidth == bits
    assert isinstance(axis.channels[0], Encoding)


@pytest.mark.parametrize(("reach", "weight"), [(1.0, 1.0), (0.005, 0.001)])
def test_a_dead_channel_still_gives_its_bias(reach: float, weight: float) -> None:
    """With steps near 1e-14 the bias would not fit the accumulator.

    Of small inputs and weights it does not in steps of this rule either, and kernels take larger
    ones.
    """
    layer = Convolution(
        name="conv",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        window=Window((1, 1)),
        output_channels=2,
    )
    arrays = {
        "w": np.array([[[[weight, 1e-12]]]], np.float32),
        "b": np.array([0.0, 0.5], np.float32),
    }
    network = Network(
        "dead",
        (layer,),
        {"x": Tensor("x", (1, 4, 4, 1)), "y": Tensor("y", (1, 4, 4, 2))},
        {name: Constant(name, array.shape, array) for name, array in arrays.items()},
        ("x",),
        ("y",),
    )
    feed = {"x": np.linspace(-reach, reach, 16, dtype=np.float32).reshape(1, 4, 4, 1)}
    quantized = quantize(network, [feed], QuantizationOptions(axis_weights=True))
    output = deployed(quantized).executor().run(feed)["y"]
    step = quantized.activations["y"].delta
    np.testing.assert_allclose(output[..., 1], 0.5, atol=step)
    np.testing.assert_allclose(output[..., 0], weight * feed["x"][..., 0], atol=2 * step)
