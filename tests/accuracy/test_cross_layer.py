"""Equalization is tried where an outlier channel stands in a chain, and it helps."""

from dataclasses import replace

import pytest

from hexsim.accuracy import cross_layer
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.remedies import try_remedies
from hexsim.accuracy.validation import validate
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.digits.networks import load, spoilt, widest
from tests.digits.scores import calibration, held_out


def test_it_is_tried_on_a_spoilt_channel_and_helps() -> None:
    network = load("relu", 0)
    broken = spoilt(network, widest(network))
    model, feeds = quantize(broken, calibration()), held_out()[:8]
    errors = validate(deployed(model), feeds).layers
    judge = OutputJudge(deployed(broken), feeds)
    trials = try_remedies(model, errors, judge)
    (trial,) = (trial for trial in trials if trial.remedies == (cross_layer.remedy(),))
    assert trial.after_db > trial.before_db + 15
    again = cross_layer.equalized(model, feeds)
    assert trial.after_db == judge.sqnr_db(again, judge.takes)
    assert not cross_layer.could_equalize(again, list(judge.takes), {})


def test_a_network_without_outliers_is_left_alone() -> None:
    model = culprits.quantized("none", 8)
    names = [layer.name for layer in model.network.layers]
    assert not cross_layer.could_equalize(model, names, {})
    assert cross_layer.could_equalize(culprits.quantized("outlier", 8), names, {})
    assert not cross_layer.could_equalize(culprits.quantized("outlier", 8), ["fc"], {})


@pytest.mark.parametrize(
    "options",
    [
        QuantizationOptions(),
        QuantizationOptions(symmetric_weights=True, bias_bits=32),
        QuantizationOptions(axis_weights=True, weight_bits=4),
        QuantizationOptions(activation_bits=16),
        QuantizationOptions(activation_bits=16, weight_bits=16, bias_bits=32),
    ],
)
def test_the_modes_of_the_model_are_kept(options: QuantizationOptions) -> None:
    model = quantize(culprits.network("outlier"), culprits.inputs(), options)
    again = cross_layer.equalized(model, culprits.inputs())
    assert again.parameters.keys() - {"fc.bias"} == model.parameters.keys()
    for name, encoding in model.parameters.items():
        other = again.parameters[name]
        assert (type(other), other.bitwidth) == (type(encoding), encoding.bitwidth)
        if not isinstance(encoding, AxisEncoding):
            assert other.symmetric == encoding.symmetric  # type: ignore[union-attr]
    for name, encoding in model.activations.items():
        assert again.activations[name].bitwidth == encoding.bitwidth
    assert again.equalized
    assert not replace(again, equalized=False).equalized
