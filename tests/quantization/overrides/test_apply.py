"""Overrides by role: what is stored, and every refusal with its key."""

import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import IntegerOverride, Range
from hexsim.quantization.overrides.apply import Applied, activation, bias, folded, weight
from hexsim.quantization.overrides.unranged import Unranged

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
