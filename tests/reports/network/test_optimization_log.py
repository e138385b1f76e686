"""Every line that the optimizations can print."""

from hexsim.layers import RELU6
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.reports.network.quantizer_log import optimization_log
from tests.quantization.equalization.made import Made, inputs


def test_without_optimizations_nothing_is_said() -> None:
    network = Made().conv("a", 8).network()
    assert list(optimization_log(quantize_optimized(network, inputs))) == []


def test_what_was_found_skipped_and_changed() -> None:
    high = [[400.0] * 4, [1.0] * 4]
    made = Made().conv("a", 8, clamp=RELU6).conv("b", 4, moments=high).conv("c", 4).pool()
    network = made.conv("d", 4).network()
    done = quantize_optimized(network, inputs, optimizations=["cle", "bc"])
    lines = list(optimization_log(done))
    assert lines[0] == "[INFO] Cross-layer equalization: chains found: 1, convolutions skipped: 1."
    assert lines[1].startswith("[INFO] Equalized a - b - c: channels multiplied by ")
    assert lines[1].endswith(
        "; ends at 'c' because its output is read by pooling 'pool', which is no convolution."
    )
    assert lines[2] == "[INFO] Skipped 'd': its output 'd.y' is an output of the network."
    assert "Relu6 became Relu" in lines[3]
    assert lines[3].endswith("'a'.")
    assert lines[4].startswith("[INFO] High biases of 'b' absorbed by 'c': 4 channels, at most ")
    assert lines[5] == "[WARNING] Invalid model for HBA quantization algorithm."
    assert "no batch norm" in lines[6]
    assert "'a'" in lines[6]
    assert lines[7].startswith("[INFO] Bias correction: 4 layers, at most ")
