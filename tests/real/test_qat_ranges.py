"""A quantisation-aware trained MobileNetV1 with the ranges that its .tflite file stores.

The file's u8 codes and scales are the scheme of the V60 kernels, so that the network must follow
the float one and the TFLite interpreter. LiteRT's default kernels (XNNPACK) round once when they
requantise, as HVX does; its reference kernels round twice (a doubling high multiply, then a shift),
which moves up to one code in sixteen of a layer by one. In this network one code can move the next
layer's by up to eighteen, so the reference kernels are compared layer by layer, each on the codes
that they themselves put in. The files are not part of this repository.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from benchmarks.real_networks import RealNetwork, mobilenet
from hexsim.graph.ir import Network
from hexsim.int8.dispatch import prepare
from hexsim.layers import Convolution, Reshape
from hexsim.lowering import LoweredCall, lower
from hexsim.lowering.products import LoweredConvolution
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.quantization.quantizer import quantize
from tests.deployed import deployed
from tests.int8.single_layer import codes_of, execute
from tests.real.litert import Litert
from tests.real.tflite_file import TfliteFile, TfliteTensor, read_tflite
from tests.real.two_roundings import convolved

AGREE = 0.97
"""Share of codes that must be at most one off."""


@dataclass(frozen=True)
class Trained:
    """The float network with its photos, and as its file quantises it."""

    path: Path
    file: TfliteFile
    real: RealNetwork
    model: Model

    @property
    def network(self) -> Network:
        return self.real.network

    @property
    def convolutions(self) -> dict[str, int]:
        """Output tensor -> its index in the file."""
        return {
            layer.output: operator.output
            for layer, operator in zip(self.network.layers, self.file.operators, strict=True)
            if isinstance(layer, Convolution)
        }

    @property
    def photos(self) -> np.ndarray:
        """The codes that enter the network, (n, height, width, 3)."""
        (name,) = self.network.inputs
        reals = np.concatenate([feed[name] for feed in self.real.inputs])
        return self.model.activations[name].quantize(reals)

    def float_winners(self) -> list[int]:
        engine, (output,) = FloatEngine(self.network), self.network.outputs
        return [int(np.argmax(engine.run(feed)[output])) for feed in self.real.inputs]


@pytest.fixture(scope="module")
def trained(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    path = real_data / "mobilenet_v1_qat_uint8" / "mobilenet_v1_0.25_128_quant.tflite"
    real, file = mobilenet(real_data), read_tflite(path)
    encodings = tmp_path_factory.mktemp("qat") / "encodings.json"
    encodings.write_text(json.dumps(_encodings(real.network, file)), encoding="utf-8")
    model = quantize(real.network, real.calibration, overrides=read_aimet(encodings))
    assert {outcome.outcome for outcome in model.overrides} == {"applied"}
    return Trained(path, file, real, model)


def _encodings(network: Network, file: TfliteFile) -> dict[str, object]:
    """The ranges of the file by the network's names, as AIMET 0.6.1 writes them."""
    activations = {network.inputs[0]: [_entry(file.tensors[file.operators[0].inputs[0]])]}
    parameters: dict[str, list[dict[str, object]]] = {}
    for layer, operator in zip(network.layers, file.operators, strict=True):
        if not isinstance(layer, Reshape):  # it keeps the codes of its input
            activations[layer.output] = [_entry(file.tensors[operator.output])]
        if isinstance(layer, Convolution):
            parameters[layer.weight] = [_entry(file.tensors[operator.inputs[1]])]
            parameters[layer.bias] = [_entry(file.tensors[operator.inputs[2]], bits=32)]
    return {
        "version": "0.6.1",
        "activation_encodings": activations,
        "param_encodings": parameters,
    }


def _entry(tensor: TfliteTensor, bits: int = 8) -> dict[str, object]:
    zero, scale = tensor.zero_point if bits == 8 else 1 << (bits - 1), tensor.scale
    return {
        "bitwidth": bits,
        "dtype": "int",
        "is_symmetric": str(bits == 32),
        "min": -zero * scale,
        "max": ((1 << bits) - 1 - zero) * scale,
        "scale": scale,
        "offset": -zero,
    }


def _calls(trained: Trained, chip: str) -> tuple[LoweredCall, ...]:
    deployment = deployed(trained.model, "dsp", chip)
    (subnet,) = deployment.plan.subnets
    return tuple(lower(subnet, trained.model, signed_kernels=deployment.signed_kernels))


def _codes(trained: Trained, chip: str = "sd835") -> dict[str, np.ndarray]:
    """Codes of every tensor, stacked over the photos."""
    network = trained.network
    calls = _calls(trained, chip)
    runs = [codes_of(network, calls, feed) for feed in trained.real.inputs]
    return {name: np.concatenate([run[name] for run in runs]) for name in runs[0]}


def _close(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Share of codes that are at most one off."""
    return float(np.mean(np.abs(ours.astype(int) - theirs.astype(int)) <= 1))


def test_weight_codes_are_the_files_own(trained: Trained) -> None:
    for layer, operator in zip(trained.network.layers, trained.file.operators, strict=True):
        if isinstance(layer, Convolution):
            codes = trained.file.tensors[operator.inputs[1]].codes
            assert codes is not None
            order = (1, 2, 3, 0) if layer.groups == 1 else (1, 2, 0, 3)
            np.testing.assert_array_equal(
                trained.model.codes(layer.weight), codes.transpose(order), layer.name
            )


def test_the_winner_is_that_of_the_float_network(trained: Trained) -> None:
    (output,), floats = trained.network.outputs, trained.float_winners()
    assert len(set(floats)) >= 6
    codes = _codes(trained)[output]
    assert np.argmax(codes.reshape(len(floats), -1), axis=-1).tolist() == floats


def test_signed_weights_cost_one_winner_at_most(trained: Trained) -> None:
    """From V65 on the asymmetric weights are rescaled per output channel when they are loaded."""
    (output,), floats = trained.network.outputs, trained.float_winners()
    codes = _codes(trained, "sd855")[output].reshape(len(floats), -1)
    assert sum(np.argmax(codes, axis=-1) == floats) >= len(floats) - 1


@pytest.fixture(scope="module")
def litert(tmp_path_factory: pytest.TempPathFactory) -> Litert:
    return Litert(tmp_path_factory.mktemp("litert"))


@pytest.mark.slow
def test_codes_are_those_of_the_tflite_interpreter(trained: Trained, litert: Litert) -> None:
    theirs = litert.codes(trained.path, trained.photos, "default")
    ours = _codes(trained)
    for name, index in trained.convolutions.items():
        codes = theirs[index]
        assert _close(np.zeros_like(codes), codes) < AGREE, "zeros would pass"
        assert _close(ours[name], codes) >= AGREE, name
        assert np.mean(ours[name] == codes) > 0.999, name
    logits = theirs[trained.convolutions["conv_2d_28"]].reshape(len(trained.photos), -1)
    winners = np.argmax(ours["conv_2d_28"].reshape(logits.shape), axis=-1)
    np.testing.assert_array_equal(winners, np.argmax(logits, axis=-1))


@pytest.mark.slow
def test_reference_kernels_differ_by_their_second_rounding_only(
    trained: Trained, litert: Litert
) -> None:
    theirs = litert.codes(trained.path, trained.photos, "reference")
    (name,) = trained.network.inputs
    known = {name: trained.photos} | {t: theirs[i] for t, i in trained.convolutions.items()}
    for call in _calls(trained, "sd835"):
        expected = theirs[_index(trained, call)].reshape(-1, *call.output.shape[1:])
        given = known[call.inputs[0].name]
        known[call.output.name] = expected
        if not isinstance(call, LoweredConvolution):
            continue
        ours = np.empty(expected.shape, np.uint8)
        kernel = prepare(call)
        for row, result in zip(given, ours, strict=True):
            execute(kernel, [row[None]], result[None])
        assert _close(np.zeros_like(ours), expected) < AGREE, "zeros would pass"
        assert _close(ours, expected) == 1.0, call.layer
        assert np.mean(ours == expected) > 0.95, call.layer
        np.testing.assert_array_equal(convolved(call, given), expected, call.layer)


def _index(trained: Trained, call: LoweredCall) -> int:
    """Index in the file of what `call` writes."""
    names = [layer.name for layer in trained.network.layers]
    return trained.file.operators[names.index(call.layer)].output
