"""Overrides that give a width and no range: the range is calibrated, with that width."""

import json
from pathlib import Path

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.overrides.unranged import Unranged
from hexsim.quantization.quantizer import quantize
from tests.quantization.overrides.test_settle import network

OUTDATED = {"w": "it was rescaled"}


def width(bits: int, symmetric: bool | None = None, channels: int = 1) -> IntegerOverride:
    return IntegerOverride(bits, (Range(),) * channels, symmetric)


def quantized(overrides: Overrides, **options: object) -> Model:
    """The network on one input, -1 to 2."""
    feed = {"x": np.linspace(-1, 2, 32, dtype=np.float32).reshape(1, 4, 4, 2)}
    chosen = QuantizationOptions(**options)  # type: ignore[arg-type]
    return quantize(network(), [feed], chosen, overrides=overrides)


@pytest.mark.parametrize("version", ["0.5.0", "0.6.1", "1.0.0"])
def test_the_guides_full_override_file(tmp_path: Path, version: str) -> None:
    """Integers with bitwidth and dtype only beside a float layer."""
    named: object = {
        "x": [{"bitwidth": 8, "dtype": "int"}],
        "y": [{"bitwidth": 32, "dtype": "float"}],
    }
    listed = [
        {"name": "x", "enc_type": "PER_TENSOR", "dtype": "INT", "bw": 8},
        {"name": "y", "enc_type": "PER_TENSOR", "dtype": "FLOAT", "bw": 32},
    ]
    whole: dict[str, object] = {
        "version": version,
        "activation_encodings": named,
        "param_encodings": {},
    }
    if version == "1.0.0":
        whole |= {"activation_encodings": listed, "param_encodings": []}
    (tmp_path / "e.json").write_text(json.dumps(whole))
    read = read_aimet(tmp_path / "e.json")
    assert read.activations == {"x": width(8), "y": FloatOverride(32)}
    model = quantized(read)
    assert model.activations["x"] == Encoding.from_range(-1, 2)
    assert model.floats["y"] == 32
    assert [override.outcome for override in model.overrides] == ["applied", "applied"]


def test_widths_without_ranges_change_the_width_only() -> None:
    """x spans 3 in 65535 steps; the largest weight, 2, is 7 steps of 4 bits."""
    overrides = Overrides({"x": width(16)}, {"w": width(4, symmetric=True), "b": width(8)})
    model = quantized(overrides, bias_bits=32)
    assert model.activations["x"].bitwidth == 16
    assert model.activations["x"].delta == pytest.approx(3 / 65535)
    weight = model.parameters["w"]
    assert isinstance(weight, Encoding)
    assert (weight.bitwidth, weight.symmetric) == (4, True)
    assert weight.delta == pytest.approx(2 / 7)
    bias = model.parameters["b"]
    assert isinstance(bias, Encoding)
    assert bias.delta == pytest.approx(0.3 / 255)
    assert model.origins["x"] == "calibration (min to max; 16 bits by override)"
    assert model.origins["w"] == "weight rule (symmetric; 4 bits by override)"


def test_what_is_asked_for_anyway_changes_nothing() -> None:
    asked = quantized(Overrides({"x": width(8), "k": width(8)}, {"w": width(8), "b": width(8)}))
    plain = quantized(Overrides())
    assert (asked.activations, asked.parameters) == (plain.activations, plain.parameters)


def test_a_width_for_each_channel_is_a_step_for_each() -> None:
    weight = quantized(Overrides({}, {"w": width(8, channels=3)})).parameters["w"]
    assert isinstance(weight, AxisEncoding)
    assert [channel.delta for channel in weight.channels] == pytest.approx(
        [1 / 127, 2 / 127, 1.5 / 127]
    )
    with pytest.raises(HexsimError, match="2 encodings for 3 output channels"):
        quantized(Overrides({}, {"w": width(8, channels=2)}))
    with pytest.raises(HexsimError, match="'x': 2 encodings; only weights"):
        quantized(Overrides({"x": width(8, channels=2)}))


def test_a_symmetric_activation_has_steps_around_zero() -> None:
    encoding = quantized(Overrides({"x": width(8, symmetric=True)})).activations["x"]
    assert encoding.offset == -128
    assert encoding.delta == pytest.approx(2 / 127, rel=1e-2)  # of what -1..2 was moved to
    assert not encoding.symmetric
    assert Unranged(8, symmetric=True).stored(Encoding.from_range(0, 1)).offset == 0


def test_adjusted_weights_stay_so_where_they_can() -> None:
    asked = Unranged(8).for_weight(QuantizationOptions(adjusted_weights=True))
    assert asked.adjusted_weights
    wide = Unranged(16).for_weight(QuantizationOptions(adjusted_weights=True))
    assert (wide.weight_bits, wide.adjusted_weights) == (16, False)


def test_a_width_holds_for_values_that_were_rescaled() -> None:
    feeds = [{"x": np.ones((1, 4, 4, 2), np.float32)}]
    whole = Overrides({}, {"w": width(4)})
    model = quantize(network(), feeds, overrides=whole, outdated=OUTDATED)
    assert model.parameters["w"].bitwidth == 4
    ranged = Overrides({}, {"w": IntegerOverride(4, (Range(-1, 1),))})
    model = quantize(network(), feeds, overrides=ranged, outdated=OUTDATED)
    assert model.parameters["w"].bitwidth == 8


def test_a_width_of_a_layer_that_moves_codes_is_that_of_its_input() -> None:
    model = quantized(Overrides({"p": width(16)}))
    assert {model.activations[name].bitwidth for name in "cpf"} == {16}
