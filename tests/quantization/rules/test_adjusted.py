"""One end of the range is exact, the other pushed outwards, by the least that makes zero a code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation
from hexsim.quantization.rules.adjusted import Adjusted

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
