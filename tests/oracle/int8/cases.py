"""The layers that are judged: seeded, of many sizes, lowered as a network is, then made extreme.

Three cases in four keep the constants that hexsim.lowering gives a layer with plausible encodings;
the others get any constants a requantise may hold, saturating shifts among them. Codes and weights
are random or at the ends of their range.
"""

from dataclasses import replace

import numpy as np

from hexsim.layers import (
    BatchNorm,
    Clamp,
    Convolution,
    Elementwise,
    FullyConnected,
    Pooling,
    Window,
)
from hexsim.lowering import Requantize, Weights
from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import lowered, quantized
from tests.oracle.int8.drawing import (
    any_codes,
    any_encoding,
    any_of,
    any_pads,
    any_tail,
    any_window,
    flag,
    two_sided,
)
from tests.oracle.int8.layout import wrapped

CHANNELS = [1, 3, 8, 31, 32, 33, 48, 64, 96]
CLAMPS = [Clamp(), Clamp(), Clamp(low=0.0), Clamp(0.0, 6.0)]


def convolutions(rng):
    groups, deep, wide = any_of(rng, [1, 1, 1, 2]), any_of(rng, CHANNELS), any_of(rng, CHANNELS)
    window, height, width = any_window(rng, most=5)
    shape = (rng.randint(1, 3), height, width, groups * deep)
    layer = {"window": window, "groups": groups, "output_channels": groups * wide}
    return _weighted(rng, Convolution, shape, (*window.kernel, deep, groups * wide), layer)


def depthwise(rng):
    channels, stride = any_of(rng, [2, 8, 32, 33, 64, 96]), rng.randint(1, 3)
    height, width = rng.randint(3, 18, 2).tolist()
    window = Window((3, 3), (stride, stride), any_pads(rng, (2, 2)))
    shape = (rng.randint(1, 3), height, width, channels)
    layer = {"window": window, "groups": channels, "output_channels": channels}
    return _weighted(rng, Convolution, shape, (3, 3, 1, channels), layer)


def fully_connected(rng):
    depth, outputs = any_of(rng, [7, 32, 100, 513]), any_of(rng, [1, 10, 32, 70])
    shape = (any_of(rng, [1, 1, 5]), depth)
    layer = {"output_channels": outputs}
    return _weighted(rng, FullyConnected, shape, (depth, outputs), layer)


def long_sums(rng):
    """Sums beyond int32 that wrap, and a preload that wraps them back to where codes are."""
    layer = {"window": Window((1, 1)), "output_channels": 5}
    call, _ = _weighted(rng, Convolution, (1, 1, 3, 1), (1, 1, 1, 5), layer)
    weight, depth = [(np.uint8(255), 33100), (np.int8(-128), 66000)][rng.randint(2)]
    weights = Weights(np.full((1, 1, depth, 5), weight), 0, np.ones(5))
    x = replace(call.inputs[0], shape=(1, 1, 3, depth), encoding=Encoding(8, 0, 255, 1, 0))
    preload = wrapped(rng.randint(0, 2**17, 5) - 255 * int(weight) * depth)
    multiplier = rng.randint(1, 2**22, 5).astype(np.int32)
    stage = Requantize(preload, multiplier, np.zeros(5, np.int32), 0, 255)
    call = replace(call, inputs=(x,), weights=weights, stage=stage)
    return call, [np.full(x.shape, 255, np.uint8)]


def batch_norms(rng):
    channels = any_of(rng, CHANNELS)
    shape = (rng.randint(1, 3), *rng.randint(1, 9, 2).tolist(), channels)
    x = any_encoding(rng, any_of(rng, [1, 30]))
    y = two_sided(rng, 75 * x.delta * any_of(rng, [0.5, 1, 2, 1e-3]))
    scale = rng.uniform(-2, 2, channels).astype(np.float32)
    shift = (rng.uniform(-1.5, 1.5, channels) * y.max).astype(np.float32)
    layer = BatchNorm(
        name="layer",
        inputs=("x",),
        outputs=("y",),
        scale="scale",
        shift="shift",
        clamp=any_of(rng, CLAMPS),
    )
    constants = {"scale": scale, "shift": shift}
    call = _bound(layer, {"x": shape}, constants, {"x": x, "y": y}, rng)
    if rng.randint(5) == 0:
        call = replace(call, factors=any_codes(rng, (channels,), np.int16))
    return _finished(rng, call, channels), [any_codes(rng, shape)]


def max_pools(rng):
    side, stride = ((2, 2), (3, 2), (3, 1))[rng.randint(3)]
    window = Window(
        (side, side), (stride, stride), any_pads(rng, (side, side)), ceil_mode=flag(rng)
    )
    return _pooled(rng, window, *rng.randint(3, 24, 2).tolist())


def sums(rng):
    """Of three or more: sums of two are judged by the codes of Hexagon NN."""
    return _of_operands(rng, any_of(rng, ["sum", "sum", "sub"]), rng.randint(3, 5))


def products(rng):
    return _of_operands(rng, "product", 3)


CASES = {
    "convolution": (convolutions, 120),
    "depthwise": (depthwise, 80),
    "fully_connected": (fully_connected, 60),
    "long_sums": (long_sums, 6),
    "batch_norm": (batch_norms, 80),
    "max_pool": (max_pools, 80),
    "sum": (sums, 150),
    "product": (products, 100),
}
"""Kernel: its drawer and how many cases are judged."""


def drawn(kernel):
    """All cases of a kernel: pairs of a lowered call and its inputs' codes."""
    draw, count = CASES[kernel]
    return [draw(np.random.RandomState([*kernel.encode(), i])) for i in range(count)]


def _weighted(rng, kind, shape, weight_shape, fields):
    """A layer with weights and bias; its output's range makes codes spread, or saturate."""
    x = any_encoding(rng, any_of(rng, [1, 4, 1000]))
    deviation = 7.5 * x.delta * np.sqrt(np.prod(weight_shape[:-1]))  # of sums of random codes
    y = two_sided(rng, deviation * any_of(rng, [1, 2, 2, 4, 1e-3]))
    weight = (rng.uniform(-0.17, 0.17, weight_shape)).astype(np.float32)
    bias = (rng.uniform(-1, 1, weight_shape[-1]) * deviation).astype(np.float32)
    layer = kind(
        name="layer",
        inputs=("x",),
        outputs=("y",),
        weight="w",
        bias="b",
        clamp=any_of(rng, CLAMPS),
        **fields,
    )
    call = _bound(layer, {"x": shape}, {"w": weight, "b": bias}, {"x": x, "y": y}, rng)
    if rng.randint(5) == 0:
        weights = call.weights
        codes = any_codes(rng, weights.codes.shape, weights.codes.dtype)
        zero = any_of(rng, [0, 1, 255]) if codes.dtype == np.uint8 else 0
        call = replace(call, weights=Weights(codes, zero, weights.steps))
    return _finished(rng, call, weight_shape[-1]), [any_codes(rng, shape)]


def _pooled(rng, window, height, width):
    shape = (rng.randint(1, 3), height, width, any_of(rng, CHANNELS))
    x = any_encoding(rng, 4)
    layer = Pooling(
        name="layer",
        inputs=("x",),
        outputs=("y",),
        kind="max",
        window=window,
        count_include_pad=flag(rng),
    )
    call = _bound(layer, {"x": shape}, {}, {"x": x, "y": x}, rng)
    return call, [any_codes(rng, shape)]


def _of_operands(rng, kind, count):
    names = [f"x{i}" for i in range(count)]
    whole = (rng.randint(1, 3), *rng.randint(1, 8, 2).tolist(), any_of(rng, CHANNELS))
    shapes = {name: any_of(rng, [whole, whole, whole[-1:], (1, 1, 1, 1)]) for name in names}
    shapes[names[0]] = whole
    reaches = rng.choice([0.2, 1, 8], count)
    encodings = {name: any_encoding(rng, r) for name, r in zip(names, reaches, strict=True)}
    reach = reaches.prod() if kind == "product" else reaches.max()
    encodings["y"] = two_sided(rng, reach * any_of(rng, [0.3, 1, 1, 2]))
    layer = Elementwise(
        name="layer", inputs=tuple(names), outputs=("y",), kind=kind, clamp=any_of(rng, CLAMPS)
    )
    call = _finished(rng, _bound(layer, shapes, {}, encodings, rng), 1)
    return call, [any_codes(rng, shapes[name]) for name in names]


def _bound(layer, shapes, constants, encodings, rng):
    model = quantized([layer], shapes, constants, encodings, ["y"])
    return lowered(model, signed_weights=flag(rng))[1][0]


def _finished(rng, call, entries):
    """The call with its own constants, or with any."""
    return replace(call, stage=any_tail(rng, entries)) if rng.randint(4) == 0 else call
