"""Overrides by role: what is stored, and every refusal with its key.

Ranges to encodings: worked examples of the guide, signs of offsets, disagreement.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import IntegerOverride, Range
from hexsim.quantization.overrides.apply import (
    Applied,
    activation,
    asymmetric,
    bias,
    folded,
    symmetric,
    symmetric_limit,
    weight,
)
from hexsim.quantization.overrides.floats import Unranged

PLAIN = QuantizationOptions()
SYMMETRIC = QuantizationOptions(symmetric_weights=True)
AXIS = QuantizationOptions(axis_weights=True)


def over(low: float, high: float, bits: int = 8, symmetric: bool | None = None) -> IntegerOverride:
    return IntegerOverride(bits, (Range(low, high),), symmetric)


def test_activations_are_stored_unsigned() -> None:
    assert activation("a", over(-1, 3), PLAIN) == Applied(Encoding.from_range(-1, 3))
    symmetric = activation("a", over(-1, 1, symmetric=True), PLAIN).encoding
    assert symmetric == Encoding(8, -1.0, 1.0, 2 / 255, -128, symmetric=False)
    unsigned = activation("a", over(0, 1, symmetric=True), PLAIN).encoding
    assert unsigned == Encoding.from_range(0, 1)
    assert activation("a", over(-1, 3, 16), PLAIN).encoding == Encoding.from_range(-1, 3, 16)


def test_weights_take_their_sign_from_file_and_options() -> None:
    assert weight("w", over(-1, 3), 2, PLAIN).encoding == Encoding.from_range(-1, 3)
    assert weight("w", over(-1, 3, symmetric=False), 2, PLAIN) == Applied(
        Encoding.from_range(-1, 3)
    )
    around = Encoding(8, -3, 3, 6 / 255, -128, symmetric=True)
    assert weight("w", over(-3, 3, symmetric=True), 2, PLAIN) == Applied(around)
    for options in (SYMMETRIC, AXIS):
        made = weight("w", over(-1, 3), 2, options)
        assert made.encoding == around
        assert "made symmetric" in made.remark
        with pytest.raises(HexsimError) as error:
            weight("w", over(-1, 3, symmetric=False), 2, options)
        assert str(error.value).startswith(
            "Requested symmetric weights but instead got is_symmetric==False."
        )
        assert "'w'" in str(error.value)


def test_weights_per_channel() -> None:
    ranges = tuple(Range(-128 * d, 127 * d, d, -128) for d in (0.5, 0.25))
    made = weight("w", IntegerOverride(8, ranges, symmetric=True), 2, PLAIN)
    assert isinstance(made.encoding, AxisEncoding)
    assert [channel.delta for channel in made.encoding.channels] == [0.5, 0.25]
    assert made.remark == ""
    with pytest.raises(HexsimError, match="'w': 2 encodings for 3 output channels"):
        weight("w", IntegerOverride(8, ranges), 3, PLAIN)
    with pytest.raises(HexsimError, match=r"is_symmetric==False\..*'w'.*per-channel"):
        weight("w", IntegerOverride(8, ranges, symmetric=False), 2, PLAIN)


def test_channels_that_were_changed_are_named() -> None:
    ranges = (Range(-1, 1), Range(-1, 3), Range(-4, 1))
    made = weight("w", IntegerOverride(4, ranges), 3, PLAIN)
    assert isinstance(made.encoding, AxisEncoding)
    assert made.encoding.channels[2] == Encoding(4, -4, 4, 8 / 15, -8, symmetric=True)
    assert made.remark.startswith("channel 1: asymmetric range made symmetric")
    assert "(and 1 more channels)" in made.remark


def test_biases() -> None:
    assert bias("b", over(-1, 3), PLAIN) == Applied(Encoding.from_range(-1, 3))
    stray = IntegerOverride(32, (Range(-1, 1, 1e-9, -2147483648),), symmetric=True)
    assert bias("b", stray, PLAIN) == Applied(None)
    with pytest.raises(HexsimError, match="weight 'w': 32 bits are for biases"):
        weight("w", stray, 2, PLAIN)
    two = IntegerOverride(8, (Range(-1, 1), Range(-1, 1)))
    with pytest.raises(HexsimError, match="bias 'b': 2 encodings; only weights"):
        bias("b", two, PLAIN)


def test_widths_that_cannot_be_stored() -> None:
    with pytest.raises(HexsimError, match=r"activation 'a': 4 bits cannot .* use 8 or 16 bits"):
        activation("a", over(-1, 1, 4), PLAIN)
    with pytest.raises(HexsimError, match=r"weight 'w': 5 bits cannot .* use 4 or 8 or 16 bits"):
        weight("w", over(-1, 1, 5), 2, PLAIN)
    with pytest.raises(HexsimError, match=r"bias 'b': 16 bits cannot .* use 8 or 32 bits"):
        bias("b", over(-1, 1, 16), PLAIN)


def test_steps_of_a_parameter_that_conversion_multiplied() -> None:
    around = weight("w", over(-3, 3, symmetric=True), 2, PLAIN)
    for factors, deltas in (((0.5,), [3 / 255]), ((2.0, -0.25), [12 / 255, 1.5 / 255])):
        made = folded(around, factors).encoding
        channels = made.channels if isinstance(made, AxisEncoding) else (made,)
        assert [channel.delta for channel in channels] == pytest.approx(deltas)
        assert all(channel.symmetric and channel.fault() is None for channel in channels)
    by_channel = folded(folded(around, (2.0, -0.25)), (0.5, 1.0)).encoding
    assert isinstance(by_channel, AxisEncoding)
    assert by_channel.deltas == pytest.approx([6 / 255, 1.5 / 255])


def test_a_range_that_no_factor_of_channels_keeps_is_computed_anew() -> None:
    beside = weight("w", over(-1, 3), 2, PLAIN)
    for factors in ((2.0, 3.0), ()):
        made = folded(beside, factors)
        assert made.encoding == Unranged(8)
        assert made.remark == "converting changed its values, so its range is computed anew"
    assert folded(beside, (1.0, 1.0)) == beside
    accumulators = bias("b", over(-1, 1, 32), PLAIN)
    assert folded(accumulators, ()) == accumulators


def test_a_range_alone_follows_the_default_rule() -> None:
    encoding, remark = asymmetric(Range(-1.8, 0.5), 8, 0.01, "")
    assert encoding == Encoding.from_range(-1.8, 0.5)
    assert encoding.offset == -200
    assert encoding.min == pytest.approx(-1.803922, abs=1e-6)
    assert encoding.max == pytest.approx(0.496078, abs=1e-6)
    assert remark == ""


@pytest.mark.parametrize("offset", [-140, 140, 141, -141])
def test_either_sign_and_cut_magnitudes_of_an_offset(offset: int) -> None:
    """The guide's page shows 140 where min / scale is -140.92."""
    scale = 0.0123
    given_range = Range(-140.92 * scale, (255 - 140.92) * scale, scale, offset)
    encoding, remark = asymmetric(given_range, 8, 0.01, "")
    assert (encoding.delta, encoding.offset) == (scale, -141)
    assert encoding.min == pytest.approx(-141 * scale)
    assert encoding.max == pytest.approx(114 * scale)
    assert remark == ""


def test_scale_and_offset_alone() -> None:
    encoding, _ = asymmetric(Range(scale=0.5, offset=-3), 8, 0.01, "")
    assert encoding == Encoding(8, -1.5, 126.0, 0.5, -3)
    with pytest.raises(HexsimError, match="there: offset -300 lies outside the 256 codes"):
        asymmetric(Range(scale=0.5, offset=-300), 8, 0.01, "there")


def test_scale_that_contradicts_the_range_is_recomputed() -> None:
    encoding, remark = asymmetric(Range(-1.0, 1.0, 0.02, -50), 8, 0.01, "")
    assert encoding == Encoding.from_range(-1.0, 1.0)
    assert remark == (
        "scale 0.02 and offset -50 do not span the given [-1, 1]; recomputed from that range"
    )


@given(
    st.floats(-100, -0.1), st.floats(0.1, 100), st.sampled_from([8, 16]), st.sampled_from([1, -1])
)
def test_our_own_encodings_come_back(low: float, high: float, bits: int, sign: int) -> None:
    want = Encoding.from_range(low, high, bits)
    full = Range(want.min, want.max, want.delta, sign * want.offset)
    for stated in (full, Range(scale=want.delta, offset=want.offset)):
        got, remark = asymmetric(stated, bits, 0.01, "")
        assert (got.delta, got.offset, remark) == (want.delta, want.offset, "")


@pytest.mark.parametrize("delta", [0.004, 0.02, 1.5])
def test_three_channels_of_the_guide(delta: float) -> None:
    """Offset -128, min -128 steps, max 127 steps, however it is written."""
    want = Encoding(8, -128 * delta, 127 * delta, delta, -128, symmetric=True)
    ends = Range(-128 * delta, 127 * delta)
    for offset in (-128, 128, 127, 0):
        full = Range(ends.min, ends.max, delta, offset)
        assert symmetric(full, 8, "") == (want, "")
    alone, remark = symmetric(ends, 8, "")
    assert remark == ""
    assert alone.delta == pytest.approx(delta)
    assert alone.offset == -128
    assert symmetric(Range(scale=delta, offset=-128), 8, "") == (want, "")


def test_strict_symmetry_is_refused() -> None:
    for stated in (Range(-1.27, 1.27, 0.01, -127), Range(scale=0.01, offset=-127)):
        with pytest.raises(HexsimError) as error:
            symmetric(stated, 8, "weight 'w'")
        assert str(error.value).startswith(
            "Invalid offset overridden for symmetric encodings got [-127], expected -128. "
        )
        assert "weight 'w'" in str(error.value)
    with pytest.raises(HexsimError, match=r"got \[-7\], expected -8\."):
        symmetric(Range(scale=0.01, offset=-7), 4, "")


def mirrored(limit: float, bits: int = 8) -> Encoding:
    """-limit to limit in 2^bits - 1 steps, zero at the code above the middle."""
    steps = (1 << bits) - 1
    return Encoding(bits, -limit, limit, 2 * limit / steps, -(steps // 2 + 1), symmetric=True)


def test_symmetric_ranges_without_scale() -> None:
    assert symmetric(Range(-1.0, 1.0), 8, "") == (mirrored(1.0), "")
    assert symmetric(Range(-0.25, 1.0), 8, "")[0] == mirrored(1.0)
    assert symmetric(Range(-7.0, 7.0), 4, "")[0].delta == 14.0 / 15
    assert mirrored(7.0, 4).fault() is None
    with pytest.raises(HexsimError, match="zero width"):
        symmetric(Range(0.0, 0.0), 8, "w")


def test_symmetric_scale_that_contradicts_the_range() -> None:
    encoding, remark = symmetric(Range(-1.0, 1.0, 0.5, -128), 8, "")
    assert encoding == mirrored(1.0)
    assert "recomputed" in remark


def test_asymmetric_ranges_are_made_symmetric_by_their_larger_end() -> None:
    encoding, remark = symmetric_limit(Range(-3.0, 1.0), 8, "")
    assert encoding == mirrored(3.0)
    assert remark == "asymmetric range made symmetric, -3 to 3"
    encoding, _ = symmetric_limit(Range(scale=0.1, offset=-5), 8, "")
    assert encoding.delta == pytest.approx(50.0 / 255)


def test_is_symmetric_makes_an_encoding_symmetric_that_was_measured_asymmetric() -> None:
    """The guide's own [-1.8, 0.5], offset -200, flagged symmetric: 1.803922 on either side."""
    measured = Encoding.from_range(-1.8, 0.5)
    full = Range(measured.min, measured.max, measured.delta, measured.offset)
    for stated in (full, Range(scale=measured.delta, offset=-200)):
        encoding, remark = symmetric(stated, 8, "")
        assert encoding.delta == pytest.approx(2 * 1.803922 / 255, rel=1e-6)
        assert (encoding.offset, encoding.symmetric) == (-128, True)
        assert encoding.min == -encoding.max
        assert encoding.max == pytest.approx(1.803922, rel=1e-6)
        assert remark == "asymmetric range made symmetric, -1.80392 to 1.80392"


@pytest.mark.parametrize("low_steps", [127, 126])
def test_an_offset_beside_the_middle_is_no_error_if_the_range_is_not_symmetric(
    low_steps: int,
) -> None:
    high = (255 - low_steps) * 0.04
    encoding, remark = symmetric(Range(-low_steps * 0.04, high, 0.04, -low_steps), 8, "")
    assert encoding == mirrored(high)
    assert "made symmetric" in remark
