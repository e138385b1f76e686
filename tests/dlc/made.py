"""Networks with weights, float and quantised, and their comparison."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import strategies as st

from hexsim.graph.ir import Constant, Network, Shape
from hexsim.hta.command_list import Command, CommandList, LayerCommands
from hexsim.layers import Convolution, FullyConnected
from hexsim.quantization.encodings import AxisEncoding, Encoding, FloatBits
from hexsim.quantization.model import HtaSection, Model
from tests import small_networks
from tests.small_networks import Sketch


def _normal(name: str, shape: Shape) -> np.ndarray:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.standard_normal(shape, dtype=np.float32)


def with_weights(network: Network) -> Network:
    """The network with seeded weights, made when first read."""
    constants = {
        name: Constant(name, constant.shape, partial(_normal, name, constant.shape))
        for name, constant in network.constants.items()
    }
    return replace(network, constants=constants)


def with_encodings(
    network: Network, axis: bool = False, bits: int = 8, packs: bool = False, halves: bool = False
) -> Model:
    """Encodings of made-up ranges; every second layer with weights keeps them as floats.

    `halves` says that these are floats of 16 bits.
    """
    activations = {
        name: Encoding.from_range(-1 - index, 3 + index / 7)
        for index, name in enumerate(network.tensors)
    }
    parameters: dict[str, Encoding | AxisEncoding] = {}
    weighted = [
        layer for layer in network.layers if isinstance(layer, Convolution | FullyConnected)
    ]
    for index, layer in enumerate(weighted[::2]):
        channels = network.constants[layer.weight].shape[-1]
        limits = 0.1 + np.arange(channels) / channels
        parameters[layer.weight] = (
            AxisEncoding(tuple(Encoding.symmetric_of(limit, bits) for limit in limits))
            if axis
            else Encoding.from_range(-2.5, 2.75 + index, bits)
        )
    floats: dict[str, FloatBits] = {layer.weight: 16 for layer in weighted[1::2] if halves}
    floats = {name: bits for name, bits in floats.items() if name not in parameters}
    return Model(
        network, activations, parameters, packs_weights=packs, floats=floats, quantized=True
    )


def record(layers: Sequence[str], chip: str = "sd855") -> bytes:
    """The record of a section, with one command for each of its layers."""
    parts = (LayerCommands(name, (Command(64, 8, 32, -1),), 8) for name in layers)
    return CommandList(chip, tuple(parts)).to_bytes()


@st.composite
def models(draw: st.DrawFn) -> Model:
    """A float or quantised network."""
    network = with_weights(draw(small_networks.networks()))
    if draw(st.booleans()):
        return Model(network)
    bits = draw(st.sampled_from([4, 8, 16]))
    model = with_encodings(
        network, draw(st.booleans()), bits, draw(st.booleans()), draw(st.booleans())
    )
    names = [layer.name for layer in network.layers]
    kept = tuple(names[draw(st.integers(0, len(names) - 1)) :])
    section = HtaSection("sd855", kept, record(kept))
    return replace(model, hta=(section,) * draw(st.integers(0, 1)))


def small_network() -> Network:
    """Two convolutions and a classifier."""
    net = Sketch((1, 8, 8, 3))
    first = net.conv("in", 4, 3)
    second = net.pool(net.conv(first, 6, 3, 2), "average", 3, 2)
    return with_weights(net.network(net.dense(second, 10)))


def assert_same(model: Model, other: Model) -> None:
    """Same structure, encodings, floats and codes; floats of codes are the dequantised ones."""
    network, again = model.network, other.network
    assert replace(network, constants={}) == replace(again, constants={})
    assert list(network.constants) == list(again.constants)
    assert model.quantized == other.quantized
    for name, constant in network.constants.items():
        assert again.constants[name].dtype == constant.dtype
        expected = constant.value()
        if model.quantized and other.quantized:
            assert model.encoding(name) == other.encoding(name)
            if (encoding := model.encoding(name)) is not None:
                codes = other.codes(name)
                assert codes.dtype == model.codes(name).dtype
                np.testing.assert_array_equal(codes, model.codes(name))
                expected = encoding.dequantize(codes)
            elif model.floats.get(name) == 16:
                expected = expected.astype(np.float16).astype(np.float32)
        np.testing.assert_array_equal(again.constants[name].value(), expected)
    if model.quantized and other.quantized:
        assert model.activations == other.activations
        assert model.floats == other.floats
        assert model.hta == other.hta
