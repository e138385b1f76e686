"""Which layers become float when overrides ask for it, and with how many bits.

Overrides that give a width and no range: the range is calibrated, with that width.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import Elementwise
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.overrides.floats import Unranged
from hexsim.quantization.overrides.settle import Settled, settle
from hexsim.quantization.quantizer import quantize
from tests.mixed import BIASED, chain, feeds
from tests.quantization.overrides.test_settle import network

HALF, SINGLE = FloatOverride(16), FloatOverride(32)
CODE = IntegerOverride(8, (Range(-1.0, 1.0),))


def settled(
    overrides: Overrides, options: QuantizationOptions | None = None, network: Network | None = None
) -> Settled:
    return settle(overrides, network or chain(), options or QuantizationOptions())


def bits(settlement: Settled) -> dict[str, int]:
    return {name: floating.bits for name, floating in settlement.floats.items()}


def reasons(settlement: Settled) -> dict[str, tuple[str, str]]:
    return {outcome.key: (outcome.outcome, outcome.reason) for outcome in settlement.outcomes}


@pytest.mark.parametrize(
    "overrides",
    [
        Overrides({"conv2.y": HALF}),
        Overrides({}, {"conv2.w": HALF}),
        Overrides({}, {"conv2.b": HALF}),
        Overrides({"conv2.y": HALF}, {"conv2.w": HALF, "conv2.b": HALF}),
    ],
)
def test_output_weight_or_bias_makes_all_three_float(overrides: Overrides) -> None:
    settlement = settled(overrides)
    assert bits(settlement) == dict.fromkeys(BIASED, 16)
    assert all(
        reason == ("applied", "layer 'conv2' is float16") for reason in reasons(settlement).values()
    )


def test_a_layer_without_weights_is_float_by_its_output_only() -> None:
    assert bits(settled(Overrides({"tanh.y": SINGLE}))) == {"tanh.y": 32}


def test_without_overrides_or_with_codes_nothing_is_float() -> None:
    assert settled(Overrides()).floats == {}
    assert settled(Overrides({"conv2.y": CODE})).floats == {}


def test_the_output_states_the_width_before_the_weight() -> None:
    settlement = settled(Overrides({"conv2.y": SINGLE}, {"conv2.w": HALF}))
    assert bits(settlement) == dict.fromkeys(BIASED, 32)
    assert reasons(settlement)["conv2.w"] == ("ignored", "'conv2.w' is float32, override")


def test_codes_given_for_a_float_layer_are_ignored_with_the_reason() -> None:
    settlement = settled(Overrides({"conv2.y": CODE}, {"conv2.w": HALF}))
    assert settlement.encodings == {}
    outcome = ("ignored", "'conv2.y' is float16, as layer 'conv2' is")
    assert reasons(settlement)["conv2.y"] == outcome


def test_options_state_the_width_that_nobody_gave_and_that_of_biases() -> None:
    anything = Overrides({"conv2.y": FloatOverride(None)})
    assert bits(settled(anything)) == dict.fromkeys(BIASED, 32)
    halves = QuantizationOptions(float_bits=16)
    assert bits(settled(anything, halves)) == dict.fromkeys(BIASED, 16)
    assert bits(settled(Overrides({"conv2.y": SINGLE}), halves)) == dict.fromkeys(BIASED, 32)
    wide_bias = QuantizationOptions(float_bias_bits=32)
    assert bits(settled(Overrides({"conv2.y": HALF}), wide_bias)) == {
        "conv2.y": 16,
        "conv2.w": 16,
        "conv2.b": 32,
    }


def test_an_input_that_only_float_layers_read_is_float_unless_it_is_given() -> None:
    first = Overrides({"conv1.y": HALF})
    assert bits(settled(first))["in"] == 16
    assert "in" not in bits(settled(Overrides({"conv1.y": HALF, "in": CODE})))
    assert bits(settled(Overrides({"conv1.y": HALF, "in": SINGLE})))["in"] == 32
    assert bits(settled(Overrides({"in": HALF}))) == {"in": 16}


def test_bytes_of_an_image_stay_bytes() -> None:
    network = chain()
    formats = {"in": InputFormat("image")}
    pictures = Network(**{**vars_of(network), "input_formats": formats})
    settlement = settled(Overrides({"in": HALF, "conv1.y": HALF}), network=pictures)
    assert "in" not in settlement.floats
    assert reasons(settlement)["in"] == (
        "ignored",
        "input 'in' is of type image, which stays as it arrives",
    )


def vars_of(network: Network) -> dict[str, object]:
    names = ("name", "layers", "tensors", "constants", "inputs", "outputs")
    return {name: getattr(network, name) for name in names}


def test_layers_that_share_a_weight_share_its_fate() -> None:
    network = chain()
    layers = [
        layer.replace(weight="conv2.w") if layer.name == "conv3" else layer
        for layer in network.layers
    ]
    settlement = settled(Overrides({"conv2.y": HALF}), network=network.with_layers(layers))
    assert {"conv2.y", "conv2.w", "conv2.b", "conv3.y", "conv3.b"} == set(settlement.floats)


def test_a_constant_operand_is_float_with_its_only_reader() -> None:
    network = chain()
    add = Elementwise(name="add", inputs=("conv3.y", "k"), outputs=("add.y",), kind="sum")
    constant = Constant("k", (4,), np.ones(4, np.float32))
    tensor = network.tensors["conv3.y"]
    added = network.with_layers(
        (*network.layers, add), [type(tensor)("add.y", tensor.shape)], [constant]
    )
    assert bits(settled(Overrides({"add.y": HALF}), network=added)) == {"add.y": 16, "k": 16}


def test_a_weight_beyond_half_is_refused() -> None:
    network = chain()
    large = network.constants["conv2.w"]
    huge = Constant(large.name, large.shape, np.full(large.shape, 1e5, np.float32))
    network = network.with_layers(network.layers, constants=[huge])
    with pytest.raises(HexsimError, match=r"'conv2.w' reaches 100000 and a float16 65504"):
        quantize(network, feeds(), overrides=Overrides({"conv2.y": HALF}))


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
