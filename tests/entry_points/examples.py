"""A small network for every layer type, kind of operand and rank: for all entry points.

The names are those of layer types, so that a type without an example is noticed (test_values.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from hexsim.graph.ir import Constant, FloatArray, Layer, Network, Shape, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.layers import (
    ArgExtremum,
    AxisSlice,
    BatchNorm,
    ChannelShuffle,
    ColourConversion,
    Concat,
    Convert,
    Convolution,
    Deconvolution,
    DepthToSpace,
    Elementwise,
    FullyConnected,
    Gather,
    LocalResponseNorm,
    MatMul,
    Neuron,
    Normalization,
    Opaque,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Recurrent,
    Reduce,
    Reshape,
    Resize,
    Softmax,
    SpaceToDepth,
    StridedSlice,
    Tile,
    UserDefined,
    Window,
)
from hexsim.layers._attribute import Attribute
from hexsim.layers.elementwise import NeuronFunction
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.udl import use_layers
from tests import own_layers

SHAPES: tuple[Shape, ...] = ((), (5,), (3, 5), (2, 3, 5), (1, 6, 7, 8), (1, 2, 3, 4, 5))
"""Stored shapes of rank 0 to 5."""
IMAGE: Shape = (1, 6, 7, 8)
DEAD_CHANNEL = "of 1 groups with a dead channel"
"""Name of a convolution one channel of which has a step too small for its bias."""
SIZED_BY_VALUES = "sized by values"
"""Name of the example whose output is as large as values decide."""


@dataclass(frozen=True)
class Example:
    """A network around one layer of type `of`; encodings that are `given` come from elsewhere."""

    of: type[Layer]
    name: str
    network: Network
    given: dict[str, AxisEncoding] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        return len(self.network.shape("x"))

    def __str__(self) -> str:
        return f"{self.of.__name__} {self.name}".rstrip()


@cache
def examples() -> tuple[Example, ...]:
    """All of them; they are made once, since many modules pair them with something."""
    return (
        *_with_a_dead_channel(),
        *_weighted(),
        *_of_images(),
        *_of_any_rank(),
        *_elementwise(),
        *_products(),
        *_sequences(),
        *_special(),
    )


def _weighted() -> Iterator[Example]:
    for groups in (1, 2, 8):
        layer = partial(
            Convolution,
            weight="w",
            bias="b",
            window=Window((3, 3), (1, 1), (1, 1, 1, 1)),
            groups=groups,
            output_channels=8,
        )
        constants = {"w": (3, 3, 8 // groups, 8), "b": (8,)}
        yield _example(layer, f"of {groups} groups", IMAGE, constants)
    layer = partial(
        Deconvolution, weight="w", bias="b", window=Window((2, 2), (2, 2)), output_channels=6
    )
    yield _example(layer, "", IMAGE, {"w": (2, 2, 8, 6), "b": (6,)})
    for shape in ((1, 24), (2, 12), (1, 2, 3, 4)):
        layer = partial(FullyConnected, weight="w", bias="b", output_channels=7)
        constants = {"w": (math.prod(shape[1:]), 7), "b": (7,)}
        yield _example(layer, _times(shape), shape, constants)


def _with_a_dead_channel() -> Iterator[Example]:
    """Weights of zero in a step that is far too small for the channel's bias."""
    for example in list(_weighted()):
        weight = example.network.constants["w"].value().copy()
        weight[..., 1] = 0
        of_channels = [Encoding.symmetric_of(2.0)] * weight.shape[-1]
        of_channels[1] = Encoding.symmetric_of(1e-9)
        given = {"w": AxisEncoding(tuple(of_channels))}
        network = with_constants(example.network, {"w": weight})
        yield Example(example.of, f"{example.name} with a dead channel".strip(), network, given)
    dead = {"s": np.full(8, 1e-12, np.float32)}
    shapes = {"s": (8,), "t": (8,)}
    of_images = partial(BatchNorm, scale="s", shift="t")
    example = _example(of_images, "of dead channels", IMAGE, shapes)
    yield replace(example, network=with_constants(example.network, dead))
    of_pixels = partial(
        Normalization, kind="deviation", axes=(3,), epsilon=1e-3, scale="s", shift="t"
    )
    example = _example(of_pixels, "of dead channels", IMAGE, shapes)
    yield replace(example, network=with_constants(example.network, dead))


def with_constants(network: Network, arrays: dict[str, FloatArray]) -> Network:
    """The network with other values of some constants."""
    changed = {name: Constant(name, array.shape, array) for name, array in arrays.items()}
    return replace(network, constants={**network.constants, **changed})


def _of_images() -> Iterator[Example]:
    yield _example(partial(BatchNorm, scale="s", shift="t"), "", IMAGE, {"s": (8,), "t": (8,)})
    yield _example(partial(ChannelShuffle, groups=2), "", IMAGE)
    norm = partial(LocalResponseNorm, size=5, alpha=1e-2, beta=0.75, bias=1.0)
    yield _example(norm, "", IMAGE)
    for kind in ("max", "average"):
        pool = partial(Pooling, kind=kind, window=Window((2, 2), (2, 2)))
        yield _example(pool, kind, IMAGE)
    norm = partial(Normalization, kind="deviation", epsilon=1e-3, scale="s", shift="t")
    of_channels = {"s": (8,), "t": (8,)}
    yield _example(partial(norm, axes=(3,)), "of pixels", IMAGE, of_channels)
    yield _example(partial(norm, axes=(1, 2)), "of channels", IMAGE, of_channels)
    yield _example(partial(norm, axes=(1, 3)), "across", IMAGE, {"s": (7, 8), "t": (7, 1)})
    yield _example(partial(Prelu, slope="s"), "", IMAGE, {"s": (8,)})
    for mode in ("DCR", "CRD"):
        yield _example(partial(DepthToSpace, block=2, mode=mode), mode, IMAGE)
        yield _example(partial(SpaceToDepth, block=2, mode=mode), mode, (1, 6, 4, 3))
    for kind in ("nearest", "bilinear"):
        yield _example(partial(Resize, kind=kind, size=(12, 14)), kind, IMAGE)


def _of_any_rank() -> Iterator[Example]:
    functions = ("clamp", "sigmoid", "tanh", "elu", "hard_swish", "leaky_relu", "hard_sigmoid")
    functions += ("abs", "erf", "exp", "gelu", "mish", "neg", "silu", "square")
    for shape in SHAPES:
        size, rank = math.prod(shape), len(shape)
        for function in functions if rank == 4 else functions[:2]:
            neuron = partial(Neuron, function=function, alpha=0.2, beta=0.5)
            yield _example(neuron, f"{function} {_times(shape)}", shape)
        yield _example(partial(Reshape, shape=(1, size)), _times(shape), shape)
        if rank:
            last = rank - 1
            yield _example(partial(Softmax, axes=(last,)), _times(shape), shape)
            norm = partial(Normalization, axes=(last,), epsilon=1e-3)
            for kind in ("deviation", "mean_square", "length"):
                yield _example(partial(norm, kind=kind), f"{kind} {_times(shape)}", shape)
            turned = partial(Permute, permutation=tuple(reversed(range(rank))))
            yield _example(turned, _times(shape), shape)
            part = partial(StridedSlice, parts=(AxisSlice(last, 1, shape[last], 2),))
            yield _example(part, _times(shape), shape)
            yield from _repeated(shape)
            for value in (0.0, 0.5):
                ends = (*(0,) * last, 2)
                pad = partial(Pad, begins=ends, ends=ends, value=value)
                yield _example(pad, f"by {value} {_times(shape)}", shape)
            yield _example(partial(Concat, axis=last), f"{_times(shape)}", shape, twice=True)
            yield _example(
                partial(Concat, axis=last), f"constant {_times(shape)}", shape, operand=shape
            )


def _repeated(shape: Shape) -> Iterator[Example]:
    """Parts of a tensor again, and numbers made of several."""
    last, name = len(shape) - 1, _times(shape)
    yield _example(partial(Tile, repeats=(*(2,) * last, 3)), name, shape)
    order = tuple((*reversed(range(shape[last])), 1, 1))
    yield _example(partial(Gather, axis=last, indices=order), name, shape)
    for mode in ("reflect", "edge", "wrap"):
        pad = partial(Pad, begins=(2,) * len(shape), ends=(*(0,) * last, 3), mode=mode)
        yield _example(pad, f"{mode} {name}", shape)
    for kind in ("mean", "sum", "max", "min"):
        yield _example(partial(Reduce, kind=kind, axes=(last,)), f"{kind} {name}", shape)
    for kind in ("max", "min"):
        place = partial(ArgExtremum, kind=kind, axis=last)
        yield _example(place, f"{kind} {name}", shape)
    yield _example(partial(place, keeps_axis=False), f"min {name} without its axis", shape)
    outer = partial(Reduce, kind="mean", axes=tuple(range(0, len(shape), 2)))
    yield _example(outer, f"mean of every other axis {name}", shape)


def _elementwise() -> Iterator[Example]:
    yield from _quotients()
    for kind in ("sum", "product", "sub", "max", "min"):
        for shape in SHAPES if kind in ("sum", "product") else (IMAGE,):
            layer = partial(Elementwise, kind=kind)
            name = f"{kind} {_times(shape)}"
            yield _example(layer, f"{name} computed", shape, twice=True)
            operands = {"scalar": (), "channels": shape[-1:], "full": shape}
            for what, operand in operands.items():
                yield _example(layer, f"{name} {what}", shape, operand=operand)


def _products() -> Iterator[Example]:
    for shape in ((5, 7), (2, 5, 7), (1, 3, 5, 7), (1, 2, 3, 5, 7)):
        constant = (*shape[:-2], 7, 4)
        yield _example(MatMul, f"{_times(shape)} constant", shape, operand=constant)
        scores = partial(MatMul, transposed=True, alpha=0.25)
        yield _example(scores, f"{_times(shape)} computed", shape, twice=True)


def _sequences() -> Iterator[Example]:
    for cell, gates in (("lstm", 4), ("gru", 3), ("rnn", 1)):
        for direction, number in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            columns = number * gates * 6
            layer = partial(
                Recurrent, cell=cell, direction=direction, hidden=6, weight="w", recurrence="r",
                bias="b", resets_late=(cell, direction) == ("gru", "reverse"),
            )  # fmt: skip
            constants = {"w": (5, columns), "r": (6, columns), "b": (2, columns)}
            yield _example(layer, f"{cell} {direction}", (7, 2, 5), constants)
    layer = partial(
        Recurrent, cell="gru", hidden=5, weight="w", recurrence="r", initial=("hidden",)
    )
    constants = {"w": (5, 15), "r": (5, 15)}
    yield _example(layer, "gru from a state", (1, 3, 5), constants, twice=True)
    yield Example(Recurrent, "lstm of unlike lengths", _of_lengths(["y"]))
    yield Example(Recurrent, "lstm that shows its cell", _of_lengths(["", "", "y"]))


def _of_lengths(outputs: list[str]) -> Network:
    """An LSTM in both directions over sequences of 7 and 4 steps, read from ONNX."""
    rng = np.random.default_rng(6)
    shapes = {"w": (2, 24, 5), "r": (2, 24, 6), "b": (2, 48)}
    given = [
        numpy_helper.from_array(rng.normal(0, 0.4, shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    given.append(numpy_helper.from_array(np.array([7, 4], np.int32), "n"))
    node = helper.make_node(
        "LSTM", ["x", "w", "r", "b", "n"], outputs, hidden_size=6, direction="bidirectional"
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (7, 2, 5))
    y = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "example", [x], [y], given)
    network = optimize(read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])))
    network.check()
    return network


def _quotients() -> Iterator[Example]:
    """Tensors and constants over a sigmoid, which is not near zero."""
    layer = partial(Elementwise, kind="div")
    for shape in SHAPES:
        yield _example(layer, f"div {_times(shape)}", shape, twice=True, first="sigmoid")
    for what, operand in {"scalar": (), "channels": (8,)}.items():
        yield _example(layer, f"div {what}", IMAGE, twice=True, first="sigmoid", operand=operand)


def _special() -> Iterator[Example]:
    picture = {"x": InputFormat("image", "argb32")}
    layer = partial(ColourConversion, input_encoding_in="argb32", input_encoding_out="bgr")
    yield _example(layer, "", (1, 4, 6, 4), formats=picture)
    yield _example(Convert, "", IMAGE)
    node = helper.make_node("Erf", ["x"], ["y"], name="erf")
    for shape in SHAPES:
        erf = partial(Opaque, op_type="Erf", node=node.SerializeToString(), shapes=(shape,))
        yield _example(erf, f"Erf {_times(shape)}", shape)
    yield Example(Opaque, SIZED_BY_VALUES, _sized_by_values())
    for number in (-math.inf, float(np.finfo(np.float32).min), -1e4):
        yield Example(Softmax, f"masked by {number:g}", _masked(number))
    plus, _ = use_layers(own_layers.FILE)
    brought = partial(UserDefined, op_type=plus.name, places=(0,), definition=plus)
    attribute = Attribute("b", "float", floats=(2.0,))
    yield _example(partial(brought, attributes=(attribute,)), "", IMAGE)


def _sized_by_values() -> Network:
    """Sigmoids of positive numbers, of which there are as many as values say."""
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"], name="first"),
        helper.make_node("Greater", ["x", "zero"], ["m"], name="mask"),
        helper.make_node("NonZero", ["m"], ["p"], name="places"),
        helper.make_node("Transpose", ["p"], ["t"], name="turned", perm=[1, 0]),
        helper.make_node("GatherND", ["s", "t"], ["y"], name="layer"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 6, 7))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (None,))
    zero = numpy_helper.from_array(np.float32(0), "zero")
    graph = helper.make_graph(nodes, "example", [x], [y], [zero])
    imports = [helper.make_opsetid("", 13)]
    network = optimize(read(helper.make_model(graph, opset_imports=imports)))
    network.check()
    return network


def _masked(number: float) -> Network:
    """A softmax of rows of seven, in which the last ones are masked by `number`."""
    shape = (1, 2, 7, 7)
    mask = np.where(np.tri(7), 0, number).astype(np.float32)
    network = Network(
        "example",
        (
            Elementwise(name="first", inputs=("x", "k"), outputs=("z",), kind="sum"),
            Softmax(name="layer", inputs=("z",), outputs=("y",), axes=(3,)),
        ),
        {name: Tensor(name, shape) for name in ("x", "z", "y")},
        {"k": Constant("k", mask.shape, mask)},
        ("x",),
        ("y",),
    )
    network.check()
    return network


def _example(
    make: partial[Layer] | type[Layer],
    name: str,
    shape: Shape,
    parameters: dict[str, Shape] | None = None,
    *,
    twice: bool = False,
    first: NeuronFunction = "tanh",
    operand: Shape | None = None,
    formats: dict[str, InputFormat] | None = None,
) -> Example:
    """`make` on x and, if asked for, on a computed tensor or a constant of shape `operand`.

    The computed tensor is the function `first` of x; with a constant it takes the place of x.
    """
    rng = np.random.default_rng(5)
    tensors = {"x": Tensor("x", shape)}
    shapes = {**(parameters or {}), **({} if operand is None else {"k": operand})}
    values = {n: rng.normal(0, 0.4, s).astype(np.float32) for n, s in shapes.items()}
    constants = {n: Constant(n, shapes[n], array) for n, array in values.items()}
    layers: list[Layer] = []
    inputs: tuple[str, ...] = ("x",)
    if twice:
        layers.append(Neuron(name="first", inputs=("x",), outputs=("z",), function=first))
        tensors["z"] = Tensor("z", shape)
        inputs = ("x", "z")
    if operand is not None:
        inputs = ("k", "z") if twice else ("x", "k")
    layer = make(name="layer", inputs=inputs, outputs=("y",))
    given = [(tensors.get(n) or constants[n]).shape for n in inputs]
    tensors["y"] = Tensor("y", layer.output_shapes(given)[0])
    network = Network(
        "example", (*layers, layer), tensors, constants, ("x",), ("y",), formats or {}
    )
    network.check()
    return Example(type(layer), name, network)


def _times(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"
