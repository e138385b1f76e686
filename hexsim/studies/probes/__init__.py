"""The kinds of kernels that `hexsim kernel` runs by name, in a table KINDS.

A further file in this folder may have a table KINDS of its own. Poolings are not padded;
convolutions are padded so that a stride of one keeps the size; recurrent layers run in both
directions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hexsim.discovery import joined
from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Shape
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
    Window,
)
from hexsim.layers.elementwise import ElementwiseKind, NeuronFunction
from hexsim.layers.images import ConvertedEncoding
from hexsim.layers.recurrent import Cell

__all__ = ["KINDS", "KernelKind", "Sizes"]


IMAGE = r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>\d+)"
WINDOW = r":(?P<kh>\d+)x(?P<kw>\d+)(:s(?P<s>\d+))?"
Made = TypeVar("Made", bound=Layer)
Sizes = Mapping[str, int]
"""Sizes by the group names of a pattern."""


def _none(sizes: Sizes) -> tuple[Shape, ...]:
    return ()


@dataclass(frozen=True)
class KernelKind:
    """One kind of kernel: the pattern of its shape, and the layer for these sizes.

    Inputs are `n` x `c`, or images `h` x `w` x `c`, `inputs` of the same shape, unless `operands`
    gives other shapes. `layer` raises InvalidDataError, in words for the user, for sizes that are
    not possible. Operands have `operand_bits`.
    """

    pattern: str
    example: str
    layer: Callable[[Sizes], Layer]
    parameters: Callable[[Sizes], tuple[Shape, ...]] = _none
    inputs: int = 1
    operand_bits: int = 8
    operands: Callable[[Sizes], tuple[Shape, ...]] | None = None


Kinds = dict[str, KernelKind]


def unary(of: type[Made], name: str, **attributes: Any) -> Made:
    """Return the layer of a type with the input `in` and the output `out`."""
    return of(name=name, inputs=("in",), outputs=("out",), **attributes)


def plain(layer: Layer, parameters: Callable[[Sizes], tuple[Shape, ...]] = _none) -> KernelKind:
    """Return the kind of a layer that takes an image of any size."""
    return KernelKind(IMAGE, "56x56x64", lambda sizes: layer, parameters)


def window(sizes: Sizes, *, padded: bool) -> Window:
    """Return the window of a shape, padded so that a stride of one keeps the size, or not."""
    high, wide, step = sizes["kh"], sizes["kw"], sizes.get("s", 1)
    top_pad, left_pad = ((high - 1) // 2, (wide - 1) // 2) if padded else (0, 0)
    return Window((high, wide), (step, step), (top_pad, left_pad, top_pad, left_pad))


def _flat(sizes: Sizes) -> Reshape:
    flat = (1, sizes["h"] * sizes["w"] * sizes["c"])
    return unary(Reshape, "reshape", shape=flat)


def _same(sizes: Sizes) -> Reshape:
    """The tensor itself, for changes of layout alone."""
    shape = (1, sizes["h"], sizes["w"], sizes["c"])
    return unary(Reshape, "layout", shape=shape)


def _half(sizes: Sizes) -> StridedSlice:
    """The first half of the channels."""
    half = (AxisSlice(3, 0, max(1, sizes["c"] // 2)),)
    return unary(StridedSlice, "slice", parts=half)


def _shuffle(sizes: Sizes) -> ChannelShuffle:
    return unary(ChannelShuffle, "shuffle", groups=sizes["g"])


def _blocks(sizes: Sizes) -> DepthToSpace:
    return unary(DepthToSpace, "blocks", block=sizes["b"])


def _reversed(sizes: Sizes) -> Gather:
    """The channels from the last to the first."""
    indices = tuple(reversed(range(sizes["c"])))
    return unary(Gather, "gather", axis=3, indices=indices)


def _pairs(kind: ElementwiseKind) -> KernelKind:
    layer = Elementwise(name=kind, inputs=("a", "b"), outputs=("out",), kind=kind)
    return KernelKind(IMAGE, "56x56x64", lambda sizes: layer, inputs=2)


def _function(name: str, function: NeuronFunction) -> KernelKind:
    return plain(unary(Neuron, name, function=function))


def _softmax(sizes: Sizes) -> Softmax:
    last = 3 if "h" in sizes else 1
    return unary(Softmax, "softmax", axes=(last,))


def _per_channel(sizes: Sizes) -> tuple[Shape, ...]:
    return ((sizes["c"],),)


_TO = r":(?P<h2>\d+)x(?P<w2>\d+)"
_LARGEST_NORM = 65
"""Channels of a response normalisation: a vector of 32 and its neighbours on both sides."""
_COLOURS: dict[int, ConvertedEncoding] = {1: "nv21", 3: "rgb", 4: "rgba"}
"""By channels."""


def _max_pool(sizes: Sizes) -> Pooling:
    pool_window = window(sizes, padded=False)
    return unary(Pooling, "pool", kind="max", window=pool_window)


def _resize(sizes: Sizes) -> Resize:
    wanted = (sizes["h2"], sizes["w2"])
    return unary(Resize, "resize", kind="bilinear", size=wanted)


def _lrn(sizes: Sizes) -> LocalResponseNorm:
    if sizes["size"] > _LARGEST_NORM:
        raise InvalidDataError(f"lrn takes windows of up to {_LARGEST_NORM} channels")
    return unary(LocalResponseNorm, "lrn", size=sizes["size"], alpha=1e-4, beta=0.75, bias=1.0)


def _colours(sizes: Sizes) -> ColourConversion:
    return unary(
        ColourConversion,
        "colours",
        input_encoding_in=_COLOURS[sizes["c"]],
        input_encoding_out="bgr",
    )


def _recurrent(cell: Cell) -> KernelKind:
    def layer(sizes: Sizes) -> Recurrent:
        return unary(
            Recurrent,
            cell,
            cell=cell,
            direction="bidirectional",
            hidden=sizes["hidden"],
            weight="weight",
            recurrence="recurrence",
        )

    def parameters(sizes: Sizes) -> tuple[Shape, ...]:
        columns = layer(sizes).columns
        return (sizes["c"], columns), (sizes["hidden"], columns)

    return KernelKind(
        r"(?P<n>\d+)x(?P<c>\d+):(?P<hidden>\d+)",
        "80x288:64",
        layer,
        parameters,
        operands=lambda sizes: ((sizes["n"], 1, sizes["c"]),),
    )


def _convolution(sizes: Sizes) -> Convolution:
    return unary(
        Convolution,
        "conv",
        weight="weight",
        window=window(sizes, padded=True),
        groups=sizes.get("g", 1),
        output_channels=sizes["out"],
    )


def _depthwise(sizes: Sizes) -> Convolution:
    return _convolution({**sizes, "g": sizes["c"], "out": sizes["c"]})


def _deconvolution(sizes: Sizes) -> Deconvolution:
    return unary(
        Deconvolution,
        "deconv",
        weight="weight",
        window=window(sizes, padded=False),
        output_channels=sizes["out"],
    )


def _fully_connected(sizes: Sizes) -> FullyConnected:
    return unary(FullyConnected, "fc", weight="weight", output_channels=sizes["out"])


def _filters(sizes: Sizes) -> tuple[Shape, ...]:
    return ((sizes["kh"], sizes["kw"], sizes["c"] // sizes.get("g", 1), sizes["out"]),)


def _matrices(sizes: Sizes) -> tuple[Shape, ...]:
    batch, rows, depth, columns = sizes.get("b", 1), sizes["n"], sizes["c"], sizes["out"]
    return (batch, rows, depth), (batch, depth, columns)


KINDS: Kinds = {
    "concat": KernelKind(
        IMAGE,
        "28x28x64",
        lambda sizes: Concat(name="concat", inputs=("a", "b"), outputs=("out",), axis=3),
        inputs=2,
    ),
    "permute": plain(unary(Permute, "permute", permutation=(0, 2, 1, 3))),
    "pad": plain(unary(Pad, "pad", begins=(0, 1, 1, 0), ends=(0, 1, 1, 0))),
    "shuffle": KernelKind(IMAGE + r":g(?P<g>\d+)", "28x28x64:g2", _shuffle),
    "depth_to_space": KernelKind(IMAGE + r":b(?P<b>\d+)", "28x28x64:b2", _blocks),
    "pixel_shuffle": KernelKind(
        IMAGE + r":b(?P<b>\d+)", "28x28x64:b2", lambda sizes: _blocks(sizes).replace(mode="CRD")
    ),
    "space_to_depth": KernelKind(
        IMAGE + r":b(?P<b>\d+)",
        "56x56x16:b2",
        lambda sizes: unary(SpaceToDepth, "blocks", block=sizes["b"]),
    ),
    "tile": plain(unary(Tile, "tile", repeats=(1, 2, 2, 1))),
    "gather": KernelKind(IMAGE, "28x28x64", _reversed),
    "reshape": KernelKind(IMAGE, "56x56x64", _flat),
    "slice": KernelKind(IMAGE, "56x56x64", _half),
    "to_d32": KernelKind(IMAGE, "56x56x64", _same),
    "from_d32": KernelKind(IMAGE, "56x56x64", _same),
    "add": _pairs("sum"),
    "multiply": _pairs("product"),
    "divide": _pairs("div"),
    "relu": _function("relu", "clamp"),
    "sigmoid": _function("sigmoid", "sigmoid"),
    "prelu": plain(unary(Prelu, "prelu", slope="slope"), _per_channel),
    "batch_norm": plain(
        unary(BatchNorm, "norm", scale="scale", shift="shift"),
        lambda sizes: 2 * _per_channel(sizes),
    ),
    "reduce_mean": plain(unary(Reduce, "mean", kind="mean", axes=(3,))),
    "reduce_max": plain(unary(Reduce, "max", kind="max", axes=(1,))),
    "argmax": plain(unary(ArgExtremum, "argmax", kind="max", axis=3)),
    "softmax": KernelKind(r"((?P<h>\d+)x(?P<w>\d+)x)?(?P<c>\d+)", "1000 or 64x64x21", _softmax),
    "layer_norm": plain(
        unary(
            Normalization,
            "norm",
            kind="deviation",
            axes=(3,),
            epsilon=1e-5,
            scale="scale",
            shift="shift",
        ),
        lambda sizes: 2 * _per_channel(sizes),
    ),
    "instance_norm": plain(
        unary(Normalization, "norm", kind="deviation", axes=(1, 2), epsilon=1e-5)
    ),
    "narrow": KernelKind(
        IMAGE, "56x56x64", lambda sizes: unary(Convert, "narrow"), operand_bits=16
    ),
    "max_pool": KernelKind(IMAGE + WINDOW, "112x112x64:3x3:s2", _max_pool),
    "average_pool": KernelKind(
        IMAGE + WINDOW, "7x7x1024:7x7", lambda sizes: _max_pool(sizes).replace(kind="average")
    ),
    "resize": KernelKind(IMAGE + _TO, "28x28x64:56x56", _resize),
    "resize_nearest": KernelKind(
        IMAGE + _TO, "28x28x64:56x56", lambda sizes: _resize(sizes).replace(kind="nearest")
    ),
    "lrn": KernelKind(IMAGE + r":(?P<size>\d+)", "55x55x96:5", _lrn),
    "colours": KernelKind(
        r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>[134])", "336x224x1 of NV21 or 224x224x4 of RGBA", _colours
    ),
    "lstm": _recurrent("lstm"),
    "gru": _recurrent("gru"),
    "rnn": _recurrent("rnn"),
    "conv": KernelKind(
        IMAGE + r":(?P<out>\d+)" + WINDOW + r"(:g(?P<g>\d+))?",
        "56x56x64:64:3x3 or 56x56x64:64:3x3:s2:g2",
        _convolution,
        _filters,
    ),
    "depthwise": KernelKind(
        IMAGE + WINDOW,
        "112x112x32:3x3:s2",
        _depthwise,
        lambda sizes: ((sizes["kh"], sizes["kw"], 1, sizes["c"]),),
    ),
    "deconv": KernelKind(
        IMAGE + r":(?P<out>\d+)" + WINDOW, "28x28x64:32:2x2:s2", _deconvolution, _filters
    ),
    "fully_connected": KernelKind(
        r"((?P<n>\d+)x)?(?P<c>\d+):(?P<out>\d+)",
        "2048:1000, or 4x2048:1000 for a batch of four",
        _fully_connected,
        lambda sizes: ((sizes["c"], sizes["out"]),),
    ),
    "matmul": KernelKind(
        r"((?P<b>\d+)x)?(?P<n>\d+)x(?P<c>\d+):(?P<out>\d+)",
        "196x64:196, or 12x196x64:196 for twelve of them",
        lambda sizes: MatMul(name="matmul", inputs=("a", "b"), outputs=("out",)),
        operands=_matrices,
    ),
    **joined(__name__, "KINDS"),
}
