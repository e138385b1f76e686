"""The default quantiser: ranges from data, codes that move keep their encoding, bias widths."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import RELU, Convolution, Elementwise, Pooling, Reshape, Window
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.options import CALIBRATIONS, LEAST_RANGE, QuantizationOptions
from hexsim.quantization.quantizer import quantize

WEIGHT = np.array([[[[-0.5, 2.0, 0.0], [1.0, 0.25, -1.5]]]], np.float32)
BIAS = np.array([0.1, -0.2, 0.05], np.float32)


def _network() -> Network:
    window = Window((2, 2), (2, 2))
    layers = (
        Convolution(
            name="conv",
            inputs=("x",),
            outputs=("c",),
            weight="w",
            bias="b",
            window=Window((1, 1)),
            clamp=RELU,
            output_channels=3,
        ),
        Pooling(name="pool", inputs=("c",), outputs=("p",), kind="max", window=window),
        Reshape(name="flat", inputs=("p",), outputs=("f",), shape=(1, 12)),
        Elementwise(name="add", inputs=("f", "k"), outputs=("y",), kind="sum"),
    )
    shapes = {"x": (1, 4, 4, 2), "c": (1, 4, 4, 3), "p": (1, 2, 2, 3), "f": (1, 12), "y": (1, 12)}
    constants = {"w": WEIGHT, "b": BIAS, "k": np.full((12,), 3.0, np.float32)}
    return Network(
        "small",
        layers,
        {name: Tensor(name, shape) for name, shape in shapes.items()},
        {name: Constant(name, value.shape, value) for name, value in constants.items()},
        ("x",),
        ("y",),
    )


def test_an_image_is_its_own_code_and_an_opaque_input_has_none() -> None:
    network = _network()
    feeds = [{"x": np.full((1, 4, 4, 2), value, np.float32)} for value in (7, 200)]
    image = quantize(replace(network, input_formats={"x": InputFormat("image")}), feeds)
    encoding = image.activations["x"]
    assert (encoding.min, encoding.max, encoding.delta, encoding.offset) == (0, 255, 1, 0)
    opaque = quantize(replace(network, input_formats={"x": InputFormat("opaque")}), feeds)
    assert "x" not in opaque.activations
    assert opaque.activations["c"] == image.activations["c"]


def test_calibration_of_an_image_refuses_what_is_no_byte() -> None:
    network = replace(_network(), input_formats={"x": InputFormat("image")})
    with pytest.raises(HexsimError, match=r"calibration input 1: input 'x' holds -?0.*type image"):
        quantize(network, _inputs())


def _inputs() -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    return [{"x": rng.uniform(-1, 2, (1, 4, 4, 2)).astype(np.float32)} for _ in range(3)]


def test_activations_span_what_they_took_over_all_inputs() -> None:
    inputs = _inputs()
    seen = np.stack([x["x"] for x in inputs])
    quantized = quantize(_network(), inputs)
    assert quantized.activations["x"] == Encoding.from_range(seen.min(), seen.max())
    convolved = np.maximum(np.einsum("nbhwi,io->nbhwo", seen, WEIGHT[0, 0]) + BIAS, 0)
    assert quantized.activations["c"].max == pytest.approx(convolved.max(), rel=1e-5)
    assert quantized.activations["c"].offset == 0


def test_layers_that_move_codes_keep_the_encoding() -> None:
    activations = quantize(_network(), _inputs()).activations
    assert activations["c"] == activations["p"] == activations["f"]
    assert activations["k"] == Encoding.from_range(3.0, 3.0)


def test_parameters_have_encodings_by_their_own_range() -> None:
    quantized = quantize(_network(), _inputs())
    assert quantized.parameters["w"] == Encoding.from_range(-1.5, 2.0)
    assert quantized.parameters["b"] == Encoding.from_range(float(BIAS.min()), float(BIAS.max()))
    assert quantized.codes("w").dtype == np.uint8
    np.testing.assert_array_equal(
        quantized.codes("w"), Encoding.from_range(-1.5, 2.0).quantize(WEIGHT)
    )
    assert quantized.weight_bytes == 6 + 3


def test_wide_biases_have_no_encoding_of_their_own() -> None:
    quantized = quantize(_network(), _inputs(), QuantizationOptions(bias_bits=32))
    assert "b" not in quantized.parameters
    assert quantized.weight_bytes == 6 + 4 * 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (QuantizationOptions(weight_bits=4), 6),
        (QuantizationOptions(weight_bits=4, pack_4_bit_weights=True), 3),
        (QuantizationOptions(weight_bits=4, pack_4_bit_weights=True, axis_weights=True), 3),
    ],
)
def test_four_bit_weights_take_a_byte_unless_packed(
    options: QuantizationOptions, expected: int
) -> None:
    assert quantize(_network(), _inputs(), options).weight_bytes == expected + 3


def test_progress_counts_inputs() -> None:
    done: list[int] = []
    quantize(_network(), _inputs(), progress=done.append)
    assert done == [1, 2, 3]


def test_no_inputs_and_unusable_inputs_are_refused() -> None:
    with pytest.raises(HexsimError, match="at least one input"):
        quantize(_network(), [])
    bad = {"x": np.full((1, 4, 4, 2), np.nan, np.float32)}
    with pytest.raises(HexsimError, match="calibration input 2 gives tensor 'x' NaN"):
        quantize(_network(), [*_inputs()[:1], bad])


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.0])
def test_symmetric_weights_that_waste_codes_are_told(share: float) -> None:
    """Asymmetric codes of -share .. 1 have a step of (1 + share) / 255, symmetric ones 1 / 127."""
    network = _network()
    weight = next(layer.weight for layer in network.layers if isinstance(layer, Convolution))
    shape = network.constants[weight].shape
    values = np.linspace(-share, 1.0, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    constants = {**network.constants, weight: Constant(weight, shape, values)}
    changed = replace(network, constants=constants)
    notes = quantize(changed, _inputs(), QuantizationOptions(symmetric_weights=True)).notes
    warnings = [note for note in notes if f"symmetric weight '{weight}'" in note]
    assert bool(warnings) == (255 / 127 / (1 + share) > 1.25)
    for options in (QuantizationOptions(), QuantizationOptions(axis_weights=True)):
        assert quantize(changed, _inputs(), options).notes == ()


@pytest.mark.parametrize(
    "choices",
    [
        {"activation_bits": 16, "weight_bits": 16},
        {"axis_weights": True, "weight_bits": 16},
        {"adjusted_weights": True},
        {"enhanced": "both", "symmetric_weights": True},
        {"activation_schema": "symmetric", "activation_bits": 16},
        *({"activation_calibration": c, "weight_calibration": c} for c in CALIBRATIONS),
    ],
)
def test_zeros_have_usable_steps_with_the_least_minimum_range(choices: dict[str, Any]) -> None:
    network = _network()
    zeros = {
        name: Constant(name, constant.shape, np.zeros(constant.shape, np.float32))
        for name, constant in network.constants.items()
    }
    options = QuantizationOptions(minimum_range=LEAST_RANGE, **choices)
    nothing = [{name: np.zeros_like(array) for name, array in feed.items()} for feed in _inputs()]
    quantized = quantize(replace(network, constants=zeros), nothing, options)
    for encoding in (*quantized.activations.values(), *quantized.parameters.values()):
        for part in encoding.channels if isinstance(encoding, AxisEncoding) else (encoding,):
            assert part.as_float32().fault() is None
