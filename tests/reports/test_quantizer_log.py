"""The log has the lines of snpe-dlc-quantize.

Every line that the optimizations can print.

The lines about overrides, and none where nobody gave any.

What is said of pictures: their scaling, the ranges, and bytes as they are.
"""

from dataclasses import replace
from pathlib import Path

import hexsim
from hexsim.graph.ir import Network, Tensor
from hexsim.graph.network_ends import PictureSteps
from hexsim.layers import RELU6, Neuron, Permute
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.overrides import KeyOutcome
from hexsim.reports.quantizer_log import (
    bytes_warning,
    optimization_log,
    override_log,
    picture_text,
    quantizer_log,
)
from tests.dlc.made import small_network, with_encodings
from tests.quantization.equalization.made import Made, inputs
from tests.small_networks import Sketch


def test_lines_quantizer_log() -> None:
    layer = Neuron(name="act", inputs=("x",), outputs=("y",), function="tanh")
    tensors = {name: Tensor(name, (1, 2)) for name in "xy"}
    network = Network("n", (layer,), tensors, {}, ("x",), ("y",))
    model = Model(network, {"y": Encoding.from_range(-5.1, 5.1)}, quantized=True)
    assert list(quantizer_log(model, Path("q.dlc"))) == [
        ("INFO", "InitializeStderr: DebugLog initialized."),
        ("INFO", "Writing intermediate model"),
        ("INFO", "Setting activation for layer: act and buffer: y"),
        ("INFO", "bw: 8, min: -5.120000, max: 5.080000, delta: 0.040000, offset: -128.000000"),
        ("INFO", "Writing quantized model to: q.dlc"),
        ("INFO", "DebugLog shutting down."),
    ]


def test_without_optimizations_nothing_is_said() -> None:
    network = Made().conv("a", 8).network()
    assert list(optimization_log(quantize_optimized(network, inputs))) == []


def test_what_was_found_skipped_and_changed() -> None:
    high = [[400.0] * 4, [1.0] * 4]
    made = Made().conv("a", 8, clamp=RELU6).conv("b", 4, moments=high).conv("c", 4).pool()
    network = made.conv("d", 4).network()
    done = quantize_optimized(network, inputs, optimizations=["cle", "bc"])
    lines = list(optimization_log(done))
    assert lines[0] == (
        "INFO",
        "Cross-layer equalization: chains found: 1, convolutions skipped: 1.",
    )
    assert lines[1][1].startswith("Equalized a - b - c: channels multiplied by ")
    assert lines[1][1].endswith(
        "; ends at 'c' because its output is read by pooling 'pool', which is no convolution."
    )
    assert lines[2] == ("INFO", "Skipped 'd': its output 'd.y' is an output of the network.")
    assert "Relu6 became Relu" in lines[3][1]
    assert lines[3][1].endswith("'a'.")
    assert lines[4][1].startswith("High biases of 'b' absorbed by 'c': 4 channels, at most ")
    assert lines[5] == ("WARNING", "Invalid model for HBA quantization algorithm.")
    assert "no batch norm" in lines[6][1]
    assert "'a'" in lines[6][1]
    assert lines[7][1].startswith("Bias correction: 4 layers, at most ")


def test_lines_override_log() -> None:
    model = replace(
        with_encodings(small_network()),
        origins={"a": "override", "b": "that of 'a'", "c": "override", "d": "that of 'c'"},
        overrides=(
            KeyOutcome("a", "activation", "override", "applied"),
            KeyOutcome("w", "parameter", "QDQ node", "ignored", "for a reason"),
        ),
    )
    assert list(override_log(model)) == [
        ("INFO", "override of activation 'a' applied"),
        ("WARNING", "QDQ node of parameter 'w' ignored: for a reason"),
        ("INFO", "Overrides: 1 applied, 1 ignored, 0 unmatched"),
        ("INFO", "Encodings: 2 override, 2 that of a layer's input"),
    ]
    assert list(override_log(replace(model, overrides=()))) == []


RAW, SCALED = PictureSteps(), PictureSteps(mean=(127.5,), std=(127.5,))


def _network(*, scaled: bool) -> Network:
    net = Sketch((1, 8, 8, 3))
    first = net.add(Permute, "in", permutation=(0, 2, 1, 3))
    return net.network(net.conv(net.add(Neuron, first, function="tanh") if scaled else first, 8, 3))


def test_bytes_that_meet_weights_are_warned_of() -> None:
    """A permute scales nothing; a layer of the network may."""
    ((level, sentence),) = bytes_warning(RAW, _network(scaled=False))
    assert level == "WARNING"
    assert "0 to 255" in sentence
    assert list(bytes_warning(SCALED, _network(scaled=False))) == []
    assert list(bytes_warning(RAW, _network(scaled=True))) == []


def test_the_ranges_of_inputs_are_told() -> None:
    model = with_encodings(small_network())
    text = picture_text(SCALED, model)
    assert text.startswith("pictures became inputs with mean 127.5, std 127.5")
    assert all(f"'{name}' " in text for name in model.network.inputs)
    assert "calibrated" not in picture_text(RAW, hexsim.load("conv1x1_8to8"))
