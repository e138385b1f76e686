"""A step per row is for fully connected layers alone."""

from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits


def test_rows_are_those_of_fully_connected_layers() -> None:
    network, inputs = culprits.network("outlier"), culprits.inputs(1)
    rows = quantize(network, inputs, QuantizationOptions(row_weights=True)).parameters
    channels = quantize(network, inputs, QuantizationOptions(axis_weights=True)).parameters
    plain = quantize(network, inputs).parameters
    weights = {layer.weight: layer.type for layer in network.layers if hasattr(layer, "weight")}
    assert set(weights.values()) == {"convolutional", "fully_connected"}
    for name, kind in weights.items():
        expected = channels if kind == "fully_connected" else plain
        assert rows[name] == expected[name], name
        assert isinstance(rows[name], AxisEncoding) == (kind == "fully_connected")
