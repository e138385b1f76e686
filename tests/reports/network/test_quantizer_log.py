"""The log has the lines of snpe-dlc-quantize."""

from pathlib import Path

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Neuron
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.reports.network.quantizer_log import quantizer_log


def test_lines() -> None:
    layer = Neuron(name="act", inputs=("x",), outputs=("y",), function="tanh")
    tensors = {name: Tensor(name, (1, 2)) for name in "xy"}
    network = Network("n", (layer,), tensors, {}, ("x",), ("y",))
    model = Model(network, {"y": Encoding.from_range(-5.1, 5.1)}, quantized=True)
    assert list(quantizer_log(model, Path("q.dlc"))) == [
        "[INFO] InitializeStderr: DebugLog initialized.",
        "[INFO] Writing intermediate model",
        "[INFO] Setting activation for layer: act and buffer: y",
        "[INFO] bw: 8, min: -5.120000, max: 5.080000, delta: 0.040000, offset: -128.000000",
        "[INFO] Writing quantized model to: q.dlc",
        "[INFO] DebugLog shutting down.",
    ]
