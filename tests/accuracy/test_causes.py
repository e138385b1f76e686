"""A suspect's remedy changes its own encoding and nothing else."""

from dataclasses import replace

import pytest

from hexsim.accuracy.causes import channel_limits, suspects
from hexsim.accuracy.validation import validate
from hexsim.quantization.encodings import AxisEncoding, Encoding
from tests.accuracy import culprits
from tests.deployed import deployed


def test_a_remedy_keeps_the_bits_and_all_other_encodings() -> None:
    model = culprits.quantized("outlier", 8)
    weight = Encoding.from_range(-1.0, 1.0, bitwidth=4)
    model = replace(model, parameters={**model.parameters, "c2.w": weight})
    layer = next(layer for layer in model.network.layers if layer.name == "c2")
    (axis, bias) = suspects(layer, model, {})
    changed = axis.remedied.parameters
    assert {n for n in model.parameters if changed[n] != model.parameters[n]} == {"c2.w"}
    assert isinstance(changed["c2.w"], AxisEncoding)
    assert changed["c2.w"].bitwidth == 4
    limits = channel_limits(model.network.constants["c2.w"].value())  # type: ignore[arg-type]
    assert [e.max for e in changed["c2.w"].channels] == pytest.approx(list(limits))
    assert set(model.parameters) - set(bias.remedied.parameters) == {"c2.b"}
    assert axis.remedied.activations == bias.remedied.activations == model.activations


@pytest.mark.parametrize("fault", ["clipped", "unused"])
def test_a_range_becomes_the_one_seen(fault: str) -> None:
    model, feeds = culprits.quantized(fault), culprits.inputs()
    errors = validate(deployed(model), feeds).layers
    row = next(row for row in errors if row.tensor == "c2.out")
    layer = next(layer for layer in model.network.layers if layer.name == "c2")
    suspected = suspects(layer, model, {"c2.out": row})
    (cause,) = (cause for cause in suspected if cause.tensor == "c2.out")
    assert cause.remedied.activations["c2.out"] == Encoding.from_range(row.low, row.high)
    assert cause.remedied.parameters == model.parameters


def test_per_channel_weights_and_wide_biases_leave_no_suspect() -> None:
    model = culprits.quantized("outlier")
    layer = model.network.layers[2]
    (axis,) = suspects(layer, model, {})
    assert suspects(layer, axis.remedied, {}) == ()
