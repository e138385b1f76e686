"""Operators, data and modes for tests of ranges: a network of one layer each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.int8.runner import IntegerSubnet
from hexsim.layers import (
    RELU,
    ArgExtremum,
    BatchNorm,
    Concat,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    MatMul,
    Neuron,
    Normalization,
    Permute,
    Pooling,
    Prelu,
    Recurrent,
    Reduce,
    Resize,
    Softmax,
    Window,
)
from hexsim.lowering import lower
from hexsim.planning.plan import Subnet
from hexsim.planning.planner import make_plan
from hexsim.quantization.encodings import Encoding, input_codes
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.int8.float_operators import NEURONS, computed
from tests.int8.single_layer import SIGNED

IMAGE = (1, 6, 7, 8)


@dataclass(frozen=True)
class Operator:
    """A layer with the shapes of its operands, and the shapes and sizes of its constants.

    An operand in `shapes` that is also in `constants` is a constant. `domain` says which numbers
    the function takes; `without` are kinds of data and widths of weights that it is not tried with.
    """

    name: str
    layer: object
    shapes: dict
    constants: dict = field(default_factory=dict)
    domain: str = "all"
    without: tuple = ()

    def __str__(self):
        return self.name


def modes_of(operator):
    """The modes that make a difference: those of weights only for layers that have weights."""
    if hasattr(operator.layer, "weight"):
        return MODES
    return tuple(mode for mode in MODES if mode.name in ("8 bits", "8 bits on htp", "16 bits"))


def operators():
    yield from _weighted()
    yield from _pairs()
    yield from _neurons()
    yield from _of_images()
    yield from _reductions()
    yield from _normalizations()
    yield from _recurrent()


def _operator(name, make, shapes, constants=None, inputs=("x",), domain="all", without=()):
    layer = make(name="layer", inputs=inputs, outputs=("y",))
    return Operator(name, layer, shapes, constants or {}, domain, without)


def _weighted():
    for groups in (1, 2, 8):
        convolution = partial(
            Convolution, weight="w", bias="b", window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
            groups=groups, output_channels=8,
        )  # fmt: skip
        constants = {"w": (3, 3, 8 // groups, 8), "b": (8,)}
        yield _operator(f"convolution of {groups} groups", convolution, {"x": IMAGE}, constants)
    pointwise = partial(Convolution, weight="w", window=Window((1, 1)), groups=1, output_channels=8)
    yield _operator("convolution 1x1", pointwise, {"x": IMAGE}, {"w": (1, 1, 8, 8)})
    strided = partial(
        Convolution, weight="w", bias="b", window=Window((3, 3), (2, 2), (0, 0, 1, 1)), groups=1,
        output_channels=8, clamp=RELU,
    )  # fmt: skip
    constants = {"w": (3, 3, 8, 8), "b": (8,)}
    yield _operator("convolution with relu", strided, {"x": IMAGE}, constants)
    deconvolution = partial(
        Deconvolution, weight="w", bias="b", window=Window((3, 3), (2, 2)), output_channels=6
    )
    constants = {"w": (3, 3, 8, 6), "b": (6,)}
    yield _operator("deconvolution", deconvolution, {"x": IMAGE}, constants)
    for size in (24, 5000):
        full = partial(FullyConnected, weight="w", bias="b", output_channels=7)
        constants = {"w": (size, 7), "b": (7,)}
        yield _operator(f"fully connected of {size}", full, {"x": (2, size)}, constants)


def _pairs():
    two = ("x", "z")
    for kind in ("sum", "sub", "product", "max", "min", "div"):
        domain = "divisor" if kind == "div" else "all"
        make = partial(Elementwise, kind=kind)
        without = ("zero",) if kind == "div" else ()
        of_two = partial(_operator, make=make, inputs=two, domain=domain, without=without)
        yield of_two(name=kind, shapes={"x": IMAGE, "z": IMAGE})
        yield of_two(name=f"{kind} constant", shapes={"x": IMAGE}, constants={"z": (8,)})
    three = ("x", "z", "u")
    for kind in ("sum", "product"):
        shapes = dict.fromkeys(three, IMAGE)
        yield _operator(f"{kind} of three", partial(Elementwise, kind=kind), shapes, inputs=three)
    concat = partial(Concat, axis=3)
    yield _operator("concat", concat, {"x": IMAGE, "z": IMAGE}, inputs=two)
    for inner in (7, 3000):
        shapes = {"x": (2, 5, inner), "z": (2, 5, inner)}
        product = partial(MatMul, transposed=True, alpha=0.25)
        yield _operator(f"matmul of {inner}", product, shapes, inputs=two)
    shapes = {"x": (2, 5, 7)}
    yield _operator("matmul constant", MatMul, shapes, {"z": (2, 7, 4)}, inputs=two)


_INFINITE = {
    "exp": ("huge", "far", "lopsided", "outlier"),
    **dict.fromkeys(("log", "reciprocal", "rsqrt", "pow -1.0", "pow -0.5"), ("zero",)),
}
"""Data of which a function is infinite."""
_DOMAINS = {"log": "positive", "reciprocal": "nonzero", "rsqrt": "positive", "sqrt": "positive"}
_NUMBERS = {"leaky_relu": (0.1, 0), "elu": (1.0, 0), "hard_sigmoid": (0.2, 0.5), "silu": (1, 0)}


def _neurons():
    for function in NEURONS:
        if function == "pow":
            continue
        alpha, beta = _NUMBERS.get(function, (0.0, 0.0))
        neuron = partial(Neuron, function=function, alpha=alpha, beta=beta)
        domain, without = _DOMAINS.get(function, "all"), _INFINITE.get(function, ())
        yield _operator(function, neuron, {"x": IMAGE}, domain=domain, without=without)
    yield _operator("relu", partial(Neuron, function="clamp", clamp=RELU), {"x": IMAGE})
    for power in (2.0, 3.0, 0.5, -1.0, -0.5, 1.7):
        neuron = partial(Neuron, function="pow", alpha=power)
        domain = "all" if power in (2.0, 3.0) else "positive"
        name = f"pow {power}"
        without = _INFINITE.get(name, ())
        yield _operator(name, neuron, {"x": IMAGE}, domain=domain, without=without)
    for slope in (1e-6, 0.01, 3.0, 300.0, -2.0):
        leaky = partial(Neuron, function="leaky_relu", alpha=slope)
        yield _operator(f"leaky {slope}", leaky, {"x": IMAGE})
        slopes = {"s": np.linspace(slope / 2, slope, 8, dtype=np.float32)}
        yield _operator(f"prelu {slope}", partial(Prelu, slope="s"), {"x": IMAGE}, slopes)
    mixed = {"s": np.array([1e-6, 1e-3, 0.1, 0.25, 1, 2, 30, -1], np.float32)}
    yield _operator("prelu mixed", partial(Prelu, slope="s"), {"x": IMAGE}, mixed)


def _of_images():
    for size, stride, pad in ((2, 2, 0), (3, 1, 1)):
        window = Window((size, size), (stride, stride), (pad,) * 4)
        for kind in ("max", "average"):
            pool = partial(Pooling, kind=kind, window=window)
            yield _operator(f"{kind} pool {size}", pool, {"x": IMAGE})
    padded = partial(Pooling, kind="average", window=window, count_include_pad=True)
    yield _operator("average pool with pads", padded, {"x": IMAGE})
    for size in (7, 64, 150):
        shape = (1, size, size, 3)
        whole = Window((size, size), (1, 1))
        pool = partial(Pooling, kind="average", window=whole)
        yield _operator(f"global average {size}", pool, {"x": shape})
        part = partial(Pooling, kind="average", window=Window((size - 1, size - 1), (1, 1)))
        yield _operator(f"average pool {size - 1}", part, {"x": shape})
    for coordinates in ("half_pixel", "align_corners", "asymmetric"):
        for size in ((12, 14), (17, 9), (3, 3)):
            for kind in ("bilinear", "nearest"):
                resize = partial(Resize, kind=kind, size=size, coordinates=coordinates)
                yield _operator(f"{kind} {coordinates} to {size}", resize, {"x": IMAGE})
    yield _operator("permute", partial(Permute, permutation=(0, 3, 1, 2)), {"x": IMAGE})


def _reductions():
    for count in (1, 7, 20_000):
        for kind in ("mean", "sum", "max", "min"):
            reduce = partial(Reduce, kind=kind, axes=(1,))
            yield _operator(f"{kind} of {count}", reduce, {"x": (3, count)})
    yield _operator("argmax", partial(ArgExtremum, kind="max", axis=3), {"x": IMAGE})


def _normalizations():
    for count in (8, 1000):
        softmax = partial(Softmax, axes=(1,))
        yield _operator(f"softmax of {count}", softmax, {"x": (5, count)})
    channels = {"s": (8,), "t": (8,)}
    yield _operator("batch norm", partial(BatchNorm, scale="s", shift="t"), {"x": IMAGE}, channels)
    for kind in ("deviation", "mean_square", "length"):
        for epsilon in (1e-5, 1e-12):
            norm = partial(Normalization, kind=kind, epsilon=epsilon)
            pixels = partial(norm, axes=(3,), scale="s", shift="t")
            yield _operator(f"{kind} of pixels {epsilon}", pixels, {"x": IMAGE}, channels)
            plain = partial(norm, axes=(1, 2))
            yield _operator(f"{kind} of channels {epsilon}", plain, {"x": (1, 40, 40, 4)})
        large = partial(norm, axes=(1,))
        yield _operator(f"{kind} of 16000", large, {"x": (2, 16_000)})
        yield _operator(f"{kind} of 20000", large, {"x": (2, 20_000)})
        yield _operator(f"{kind} of one", large, {"x": (20, 1)})
    for size, alpha, beta, bias in ((5, 1e-4, 0.75, 1.0), (3, 1.0, 0.5, 2.0), (5, 1e-4, 1.5, 1.0)):
        local = partial(LocalResponseNorm, size=size, alpha=alpha, beta=beta, bias=bias)
        yield _operator(f"response norm {size} {alpha} {beta}", local, {"x": IMAGE})


def _recurrent():
    for cell, gates in (("lstm", 4), ("gru", 3), ("rnn", 1)):
        layer = partial(
            Recurrent, cell=cell, hidden=6, weight="w", recurrence="r", bias="b",
            resets_late=cell == "gru",
        )  # fmt: skip
        columns = 6 * gates
        constants = {"w": (5, columns), "r": (6, columns), "b": (2, columns)}
        yield _operator(cell, layer, {"x": (7, 2, 5)}, constants, without=(16,))


DATA = {
    "ordinary": lambda n: n,
    "tiny": lambda n: 1e-6 * n,
    "small": lambda n: 1e-3 * n,
    "huge": lambda n: 1e6 * n,
    "far": lambda n: 1000.5 + np.clip(n, -2, 2) / 4,
    "far below": lambda n: -1000.5 + np.clip(n, -2, 2) / 4,
    "lopsided": lambda n: np.where(n < 0, 0.01 * n, 100 * n),
    "lopsided below": lambda n: np.where(n > 0, 0.01 * n, 100 * n),
    "constant": lambda n: np.full_like(n, 3.0),
    "zero": np.zeros_like,
    "outlier": lambda n: np.where(np.arange(n.size).reshape(n.shape) == 1, 1e4, n),
}
"""Numbers of each kind, from numbers with the deviation one."""
SCALES = {"alike": 1.0, "second larger": 1e4, "second smaller": 1e-4}
"""Size of the second operand relative to the first, or of weights."""
WIDTHS = {"calibrated": 1.0, "narrow": 0.25, "wide": 100.0}
"""Range of the output relative to its values."""


@dataclass(frozen=True)
class Mode:
    """Options of the quantiser, and whether kernels have signed weights or are the library's."""

    name: str
    options: QuantizationOptions
    signed: bool = False
    runtime: str = "dsp"

    def __str__(self):
        return self.name


_exact = partial(QuantizationOptions, minimum_range=1e-30)
MODES = (
    Mode("8 bits", _exact()),
    Mode("8 bits per axis", _exact(axis_weights=True, bias_bits=32), signed=True),
    Mode("8 bits symmetric", _exact(symmetric_weights=True, bias_bits=32)),
    Mode("4 bits of weights", _exact(weight_bits=4, bias_bits=32)),
    Mode("enhanced", _exact(enhanced="both")),
    Mode("8 bits on htp", _exact(axis_weights=True, bias_bits=32), runtime="htp"),
    Mode("16 bits", _exact(activation_bits=16)),
    Mode("16 bits per axis", _exact(activation_bits=16, axis_weights=True, bias_bits=32), True),
    Mode("16 bits of both", _exact(activation_bits=16, weight_bits=16, bias_bits=32)),
)


def drawn(operator, data, scale, seed=1):
    """Feeds and constants of an operator."""
    random = np.random.default_rng(seed)

    def numbers(name, shape):
        n = DATA[data](random.normal(size=shape))
        if name != "x":
            n = n * SCALES[scale]
        if operator.domain == "positive" or (operator.domain == "divisor" and name == "z"):
            n = np.abs(n)
        return n.astype(np.float32)

    feeds = {name: numbers(name, shape) for name, shape in operator.shapes.items()}
    constants = {}
    for name, given in operator.constants.items():
        if isinstance(given, np.ndarray):
            constants[name] = given
        elif name == "z":
            constants[name] = numbers(name, given)
        else:
            drawn = random.normal(0, 1, given) * SCALES[scale]
            constants[name] = drawn.astype(np.float32)
    return feeds, constants


def network_of(operator, feeds, constants):
    layer = operator.layer
    arrays = {**feeds, **constants}
    (shape,) = layer.output_shapes([arrays[name].shape for name in layer.inputs])
    shapes = {**{name: array.shape for name, array in feeds.items()}, "y": shape}
    network = Network(
        "one",
        (layer,),
        {name: Tensor(name, shape) for name, shape in shapes.items()},
        {name: Constant(name, array.shape, array) for name, array in constants.items()},
        tuple(feeds),
        ("y",),
    )
    network.check()
    return network


def quantized_of(operator, data, scale, width, mode):
    """The model and its feeds; the output's range is changed by `width`."""
    feeds, constants = drawn(operator, data, scale)
    model = quantize(network_of(operator, feeds, constants), [feeds], mode.options)
    own = model.activations["y"]
    factor = WIDTHS[width]
    if factor != 1 and not operator.layer.moves_codes:
        changed = Encoding.from_range(factor * own.min, factor * own.max, own.bitwidth, 0)
        model = replace(model, activations={**model.activations, "y": changed})
    return model, feeds


def errors_of(operator, model, feeds, mode):
    """How far each element is from the float result of what the kernel saw, in steps.

    The step is the output's, plus half of what the result changes if each code of the inputs moves
    by one at random: nobody can ask for more of inputs of that many codes.
    """
    subnet = make_plan(model, "dsp", [Subnet("dsp", "hvx", model.network.layers, "all")]).subnets[0]
    if mode.runtime == "htp":
        subnet = replace(subnet, runtime="htp")
    calls = tuple(lower(subnet, model, signed_kernels=SIGNED if mode.signed else None))
    result = IntegerSubnet(calls, subnet.inputs, subnet.outputs).run(feeds)["y"]
    layer, output = operator.layer, model.activations["y"]
    low, high = (output.delta * (output.offset + code) for code in (0, output.steps))
    stored = model.as_stored.constants
    constants = {name: stored[name].value().astype(np.float64) for name in stored}

    random = np.random.default_rng(7)

    def expected(moved=None):
        reals = dict(constants)
        for name in layer.inputs:
            encoding = model.activations[name]
            if name in feeds:
                codes = input_codes(feeds[name], encoding).astype(np.float64)
                reals[name] = (codes - encoding.zero_point) * encoding.delta
            if name == moved:
                moves = random.choice([-1, 1], reals[name].shape)
                reals[name] = reals[name] + moves * encoding.delta
        y = computed(layer, [reals[name] for name in layer.inputs], reals)
        return np.clip(y, low, high)

    exact = expected()
    changes = [np.abs(expected(name) - exact) for name in layer.inputs for _ in range(2)]
    if layer.type == "matmul":  # its zero point is a whole number of products of two steps
        unit = layer.alpha * math.prod(model.activations[name].delta for name in layer.inputs)
        changes.append(np.full(exact.shape, unit))
    return (result - exact) / (output.delta + 0.5 * np.nan_to_num(np.max(changes, axis=0)))
