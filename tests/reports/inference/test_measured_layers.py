"""The line of a profile about measured layers."""

from __future__ import annotations

from dataclasses import replace

from hexsim.datasheets.measurements.layer_factors import LayerFactor, layer_factors
from hexsim.reports.inference.measured_layers import measured_layers
from tests.timing.test_results import LAYER

FACTORS = (
    LayerFactor("dsp", "convolutional", 32, 1.13),
    LayerFactor("dsp", "pooling", 3, 1.49),
    LayerFactor("cpu", "convolutional", 32, 1.62),
)


def test_only_classes_of_the_network_on_its_engine_are_named() -> None:
    convolution = replace(LAYER, engine="hvx", layer_class="convolutional")
    softmax = replace(LAYER, engine="hvx", layer_class="softmax")
    assert measured_layers([convolution, softmax], FACTORS) == [
        "median factor between measured and simulated layers of hvx: convolutional 1.13 "
        "(32 layers); sd865, snpe-1.63"
    ]
    assert measured_layers([softmax], FACTORS) == []
    assert measured_layers([replace(convolution, engine="hta")], FACTORS) == []


def test_engines_have_a_line_each() -> None:
    layers = [
        replace(LAYER, engine=engine, layer_class="convolutional") for engine in ("cpu", "hvx")
    ]
    assert [line.split(" of ")[1][:3] for line in measured_layers(layers, FACTORS)] == [
        "hvx",
        "cpu",
    ]


def test_the_factors_of_the_package_are_factors() -> None:
    assert {factor.runtime for factor in layer_factors()} == {"dsp", "cpu", "gpu"}
    assert all(factor.factor >= 1 and factor.layers > 0 for factor in layer_factors())
