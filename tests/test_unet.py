"""A network that grows an image again, from the ONNX file to times on every engine."""

from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim import dlc
from hexsim.accuracy.output_errors import Distance
from hexsim.graph.ir import Network
from hexsim.layers import Deconvolution, Opaque, Permute, Resize
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.passes.network_inputs import resized
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.runtimes import Runtime
from tests.unet import SIZE, unet

GROWING = ("up_low", "up_mixed", "smooth", "blocks")


@pytest.fixture(scope="module")
def network() -> Network:
    return optimize(read(unet()))


def images(count: int) -> list[np.ndarray]:
    return [np.random.default_rng(n).normal(0, 1, SIZE).astype(np.float32) for n in range(count)]


@pytest.fixture(scope="module")
def model(network: Network) -> Model:
    return hexsim.quantize(Model(network), images(4))


def test_nothing_is_opaque_and_clamps_and_norms_are_fused(network: Network) -> None:
    by_name = {layer.name: layer for layer in network.layers}
    kinds = [type(by_name[name]) for name in GROWING]
    assert kinds == [Deconvolution, Deconvolution, Resize, Resize]
    assert not any(isinstance(layer, Opaque | Permute) for layer in network.layers)
    assert by_name["up_low"].fused == ("norm", "grown")


def test_floats_are_those_of_the_file(network: Network, agree) -> None:
    agree(unet())


@pytest.mark.parametrize(
    ("options", "chip", "runtime", "least_db"),
    [
        (QuantizationOptions(), "sd835", "dsp", 24),
        (QuantizationOptions(), "sd855", "dsp", 24),
        (QuantizationOptions(axis_weights=True), "sd855", "dsp", 28),
        (QuantizationOptions(activation_bits=16), "sd855", "fxp_cpu", 30),
    ],
)
def test_codes_are_close_to_floats(
    network: Network,
    options: QuantizationOptions,
    chip: str,
    runtime: Runtime,
    least_db: float,
) -> None:
    quantized = hexsim.quantize(Model(network), images(4), options)
    (image,) = images(1)
    got = hexsim.simulate(quantized, chip, runtime, inputs=image).outputs
    stored = network.tensors["image"].from_source(image)
    classes = FloatEngine(network).run({"image": stored})["classes"]
    expected = network.tensors["classes"].to_source(classes)
    assert got is not None
    assert Distance.between(expected, got["classes"]).sqnr_db > least_db


def test_bias_correction_takes_deconvolutions(network: Network) -> None:
    corrected = hexsim.quantize(Model(network), images(4), optimizations=("cle", "bc"))
    changed = {
        name
        for name in ("up_low", "up_mixed")
        for layer in corrected.network.layers
        if layer.name == name and isinstance(layer, Deconvolution)
        if not np.array_equal(
            corrected.network.constants[layer.bias or ""].value(),
            network.constants[layer.bias or ""].value(),
        )
    }
    assert changed == {"up_low", "up_mixed"}


def test_a_nearest_resize_keeps_its_encoding_and_a_bilinear_one_has_its_own(
    model: Model,
) -> None:
    codes = model.activations
    assert codes["blocks"] == codes["low"]
    assert codes["smooth"].max < codes["mixed"].max


def test_a_container_gives_back_what_it_was_given(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "unet.dlc"
    dlc.write(path, model)
    again = dlc.read(path).model
    assert again.quantized
    assert again.network.layers == model.network.layers
    for name in model.parameters:
        np.testing.assert_array_equal(again.codes(name), model.codes(name))


@pytest.mark.parametrize("runtime", ["cpu", "gpu", "dsp", "aip", "fxp_cpu"])
def test_every_runtime_takes_and_times_them(model: Model, runtime: Runtime) -> None:
    result = hexsim.simulate(model, "sd855", runtime)
    times = {layer.name: layer for layer in result.layers}
    for name in GROWING:
        assert times[name].us > 0


def test_the_tensor_engine_takes_them(model: Model) -> None:
    (section,) = hexsim.compile_hta(model, "sd855").hta
    assert set(GROWING) <= set(section.layers)


def test_another_input_size_goes_through(network: Network) -> None:
    larger = resized(network, {"image": (2, 3, 64, 40)})
    larger.check()
    assert larger.tensors["classes"].source_shape == (2, 5, 64, 40)
