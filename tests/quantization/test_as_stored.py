"""A quantised network is the same in memory and in its file, whatever its constants are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from hexsim import dlc
from hexsim.accuracy.reference import with_reference
from hexsim.dlc.loading import load
from hexsim.graph.ir import FloatArray, Network
from hexsim.layers import Opaque
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import Runtime
from tests import mixed
from tests.deployed import deployed
from tests.opaque_constants import NETWORKS, feeds, lstm, masked, opaque_input, shared
from tests.thorough import paired

RUNTIMES: tuple[tuple[str, Runtime], ...] = (
    ("sd835", "cpu"),
    ("sd835", "gpu"),
    ("sd835", "fxp_cpu"),
    ("sd835", "dsp"),
    ("sd855", "dsp"),
)

OPTIONS = {
    "8 bits": QuantizationOptions(),
    "per channel": QuantizationOptions(axis_weights=True, bias_bits=32),
}

each_network = pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)


def _answers(model: Model, feed: dict[str, FloatArray]) -> list[FloatArray]:
    """The outputs on every runtime."""
    answers: list[FloatArray] = []
    for chip, runtime in RUNTIMES:
        answers += deployed(model, runtime, chip).executor().run(feed).values()
    return answers


def _through_a_file(model: Model, path: Path) -> Model:
    dlc.write(path, model)
    read = dlc.read(path).model
    assert read.quantized
    return read


def _assert_same_from_file(model: Model, folder: Path) -> None:
    read = _through_a_file(model, folder / "first.dlc")
    dlc.write(folder / "second.dlc", read)
    assert (folder / "first.dlc").read_bytes() == (folder / "second.dlc").read_bytes()
    (feed,) = feeds(model.network, 1)
    expected = _answers(model, feed)
    for array, read_back in zip(expected, _answers(read, feed), strict=True):
        assert array.dtype == read_back.dtype
        assert array.tobytes() == read_back.tobytes()


@pytest.mark.parametrize(
    ("make", "weights"),
    paired(NETWORKS, list(OPTIONS), 1),
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_answers_are_those_of_the_file(
    tmp_path: Path, make: Callable[[], Network], weights: str
) -> None:
    network = make()
    _assert_same_from_file(quantize(network, feeds(network), OPTIONS[weights]), tmp_path)


@pytest.mark.parametrize("bits", [16, 32])
def test_answers_of_float_layers_are_those_of_the_file(tmp_path: Path, bits: int) -> None:
    _assert_same_from_file(mixed.mixed(bits), tmp_path)


@pytest.mark.parametrize("name", ["dyn_ConvInteger", "dyn_MatMulInteger"])
def test_answers_of_real_dynamic_graphs_are_those_of_the_file(
    tmp_path: Path, real_data: Path, name: str
) -> None:
    path = real_data / "repro" / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"no {path.name} among the real data")
    try:
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
        pytest.skip("this onnxruntime has no kernel for signed weights (1.20 has none)")
    network = require_float(load(path))
    _assert_same_from_file(quantize(network, feeds(network)), tmp_path)


@each_network
def test_what_only_opaque_layers_read_stays_bit_for_bit(
    tmp_path: Path, make: Callable[[], Network]
) -> None:
    network = make()
    model = quantize(network, feeds(network))
    read = _through_a_file(model, tmp_path / "m.dlc")
    ours = {
        name
        for layer in network.layers
        if not isinstance(layer, Opaque)
        for name in (*layer.inputs, *layer.parameters)
    }
    for name, constant in network.constants.items():
        coded = name in ours and constant.dtype == "float32"
        assert (model.encoding(name) is not None) == coded, name
        for held in (model.as_stored, read.network, read.as_stored):
            stored = held.constants[name]
            assert (stored.dtype, stored.shape) == (constant.dtype, constant.shape)
            if not coded:
                assert stored.value().tobytes() == constant.value().tobytes(), name


def test_constants_of_every_kind_are_among_those() -> None:
    kept = [
        network.constants[name]
        for network in (make() for make in NETWORKS)
        for layer in network.layers
        if isinstance(layer, Opaque)
        for name in layer.inputs
        if name in network.constants
    ]
    assert {constant.dtype for constant in kept} == {"float32", "int64", "uint8", "bool"}
    assert {0, 1} < {constant.elements for constant in kept}
    assert () in {constant.shape for constant in kept}


def test_halves_and_not_a_number_stay_bit_for_bit(tmp_path: Path) -> None:
    network = masked()
    bits = np.array([0x7E01, 0x7C00, 0x8000, 0xFD23], np.uint16)  # two NaN, infinity, -0
    name = next(n for n, constant in network.constants.items() if constant.dtype == "bool")
    odd = network.constants[name].derive(
        bits.shape, lambda mask: bits.view(np.float16), name, "float16"
    )
    model = replace(
        quantize(network, feeds(network)),
        network=network.with_layers(network.layers, constants=[odd]),
    )
    read = _through_a_file(model, tmp_path / "m.dlc")
    assert read.as_stored.constants[name].dtype == "float16"
    assert read.as_stored.constants[name].value().tobytes() == bits.tobytes()


def test_an_opaque_layer_computes_as_in_float(tmp_path: Path) -> None:
    """Its weights are as good as they were, in memory and from the file."""
    network = lstm()
    model = quantize(network, feeds(network))
    layer = next(layer for layer in network.layers if isinstance(layer, Opaque))
    part = network.subnetwork([layer], layer.inputs[:1], layer.outputs)
    (feed,) = feeds(part, 1)
    expected = {name: array.tobytes() for name, array in FloatEngine(part).run(feed).items()}
    for variant in (model, _through_a_file(model, tmp_path / "m.dlc")):
        alone = replace(
            variant, network=variant.network.subnetwork([layer], part.inputs, part.outputs)
        )
        outputs = deployed(alone).executor().run(feed)
        assert {name: array.tobytes() for name, array in outputs.items()} == expected


def test_a_constant_has_one_value_for_all_its_readers() -> None:
    network = shared()
    model = quantize(network, feeds(network))
    encoding, power = model.encoding("k"), network.constants["k"].value()
    assert encoding is not None
    held = encoding.dequantize(encoding.quantize(power))
    assert not np.array_equal(held, power)
    np.testing.assert_array_equal(model.as_stored.constants["k"].value(), held)
    last = network.subnetwork(network.layers[-1:], ["s"], ["y"])
    alone = replace(model, network=last)
    feed = {"s": np.full((1, 8), 2.0, np.float32)}
    output = deployed(alone).executor().run(feed)["y"]
    np.testing.assert_allclose(output[0], 2.0**held, rtol=1e-6)


def test_the_cpu_computes_with_what_the_codes_say() -> None:
    network = opaque_input()
    model = quantize(network, feeds(network))
    (feed,) = feeds(network, 1)
    first = network.layers[0]

    def run(variant: Model) -> FloatArray:
        return deployed(variant, "cpu").executor().run(feed)["y"]

    assert run(model).tobytes() == run(model.as_stored).tobytes() != run(network).tobytes()
    assert Model(network).as_stored is network
    for name in first.parameters:
        encoding = model.parameters[name]
        held = encoding.dequantize(model.codes(name))
        np.testing.assert_array_equal(model.as_stored.constants[name].value(), held)


@pytest.mark.parametrize("override", [IntegerOverride(8, (Range(-1, 1),)), FloatOverride(16)])
def test_an_override_of_what_stays_as_it_is_is_ignored(
    override: IntegerOverride | FloatOverride,
) -> None:
    network = masked()
    overrides = Overrides({"else": override, "mask": override})
    model = quantize(network, feeds(network), overrides=overrides)
    assert {(override.key, override.outcome, override.reason) for override in model.overrides} == {
        ("else", "ignored", "layer 'kept' (Where) computes with it as it is"),
        ("mask", "ignored", "it holds bool numbers"),
    }
    assert "else" not in {**model.activations, **model.floats, **model.origins}


def test_a_file_over_its_float_network_computes_with_what_the_file_holds(tmp_path: Path) -> None:
    """Also where nothing is coded: a bias of 32 bits that was corrected after quantising."""
    network = opaque_input()
    options = QuantizationOptions(bias_bits=32)
    model = quantize(network, feeds(network), options)
    name = network.layers[0].parameters[1]
    moved = network.constants[name].derive(network.shape(name), lambda bias: bias + 1)
    changed = network.with_layers(network.layers, constants=[moved])
    read = _through_a_file(replace(model, network=changed), tmp_path / "m.dlc")
    referred = with_reference(read, network)
    assert referred.network.constants[name] is network.constants[name]
    (feed,) = feeds(network, 1)
    expected = _answers(read, feed)
    for array, read_back in zip(expected, _answers(referred, feed), strict=True):
        assert array.tobytes() == read_back.tobytes()
