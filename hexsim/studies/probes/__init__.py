"""Kernels that `hexsim kernel` runs by name and shape, without a network: `conv 56x56x64:64:3x3`.

Images are height x width x channels. The kinds are in a table KINDS; a further file in this folder
may have a table KINDS of its own. Poolings are not padded; convolutions are padded so that a stride
of one keeps the size; recurrent layers run in both directions.
"""

import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypeVar

from hexsim import layers
from hexsim.discovery import joined
from hexsim.errors import HexsimError, InvalidDataError, spelled, unknown
from hexsim.graph.ir import Layer, Shape
from hexsim.layers.images import ConvertedEncoding
from hexsim.layers.recurrent import Cell
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass

IMAGE = r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>\d+)"
WINDOW = r":(?P<kh>\d+)x(?P<kw>\d+)(:s(?P<s>\d+))?"
_LARGEST = 65_536
"""Largest size."""
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


def sized(
    of: type[Layer],
    name: str,
    written: tuple[str, str],
    parameters: Callable[[Sizes], tuple[Shape, ...]] = _none,
    /,
    **attributes: Any,
) -> KernelKind:
    """Return the kind of a layer with one input whose attributes depend on its sizes.

    `written` is their pattern, with an example; an attribute may be a function of them.
    """

    def layer(sizes: Sizes) -> Layer:
        stated = {key: each(sizes) if callable(each) else each for key, each in attributes.items()}
        return unary(of, name, **stated)

    return KernelKind(*written, layer, parameters)


def window(sizes: Sizes, *, padded: bool) -> layers.Window:
    """Return the window of a shape, padded so that a stride of one keeps the size, or not."""
    high, wide, step = sizes["kh"], sizes["kw"], sizes.get("s", 1)
    top_pad, left_pad = ((high - 1) // 2, (wide - 1) // 2) if padded else (0, 0)
    return layers.Window((high, wide), (step, step), (top_pad, left_pad, top_pad, left_pad))


def _inside(sizes: Sizes) -> layers.Window:
    return window(sizes, padded=False)


def _pairs(of: type[Layer], name: str, example: str, **attributes: Any) -> KernelKind:
    layer = of(name, ("a", "b"), ("out",), **attributes)
    return KernelKind(IMAGE, example, lambda sizes: layer, inputs=2)


def _per_channel(sizes: Sizes) -> tuple[Shape, ...]:
    return ((sizes["c"],),)


def _scale_and_shift(sizes: Sizes) -> tuple[Shape, ...]:
    return 2 * _per_channel(sizes)


_LARGEST_NORM = 65
"""Channels of a response normalisation: a vector of 32 and its neighbours on both sides."""
_COLOURS: dict[int, ConvertedEncoding] = {1: "nv21", 3: "rgb", 4: "rgba"}
"""By channels."""


def _norm_size(sizes: Sizes) -> int:
    if sizes["size"] > _LARGEST_NORM:
        raise InvalidDataError(f"lrn takes windows of up to {_LARGEST_NORM} channels")
    return sizes["size"]


def _recurrent(cell: Cell) -> KernelKind:
    def layer(sizes: Sizes) -> layers.Recurrent:
        names = {"weight": "weight", "recurrence": "recurrence", "hidden": sizes["hidden"]}
        return unary(layers.Recurrent, cell, cell=cell, direction="bidirectional", **names)

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


def _convolution(sizes: Sizes) -> layers.Convolution:
    groups, channels = sizes.get("g", 1), sizes["out"]
    stated = {"weight": "weight", "window": window(sizes, padded=True)}
    return unary(layers.Convolution, "conv", **stated, groups=groups, output_channels=channels)


def _depthwise(sizes: Sizes) -> layers.Convolution:
    return _convolution({**sizes, "g": sizes["c"], "out": sizes["c"]})


def _filters(sizes: Sizes) -> tuple[Shape, ...]:
    return ((sizes["kh"], sizes["kw"], sizes["c"] // sizes.get("g", 1), sizes["out"]),)


def _matrices(sizes: Sizes) -> tuple[Shape, ...]:
    batch, rows, depth, columns = sizes.get("b", 1), sizes["n"], sizes["c"], sizes["out"]
    return (batch, rows, depth), (batch, depth, columns)


_LARGE, _SMALL, _TO = (IMAGE, "56x56x64"), (IMAGE, "28x28x64"), r":(?P<h2>\d+)x(?P<w2>\d+)"
_BLOCKS, _SIZES = (IMAGE + r":b(?P<b>\d+)", "28x28x64:b2"), (IMAGE + _TO, "28x28x64:56x56")
_CHANNELS = (IMAGE + r":(?P<out>\d+)" + WINDOW, "28x28x64:32:2x2:s2")
_COLOUR = (r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>[134])", "336x224x1 of NV21 or 224x224x4 of RGBA")
_ROWS = (r"((?P<n>\d+)x)?(?P<c>\d+):(?P<out>\d+)", "2048:1000, or 4x2048:1000 for a batch of four")
_DEVIATION: dict[str, Any] = {"kind": "deviation", "epsilon": 1e-5}
_layout = sized(layers.Reshape, "layout", _LARGE, shape=lambda s: (1, s["h"], s["w"], s["c"]))
"""The tensor itself, for changes of layout alone."""

KINDS: Kinds = {
    "concat": _pairs(layers.Concat, "concat", "28x28x64", axis=3),
    "permute": plain(unary(layers.Permute, "permute", permutation=(0, 2, 1, 3))),
    "pad": plain(unary(layers.Pad, "pad", begins=(0, 1, 1, 0), ends=(0, 1, 1, 0))),
    "shuffle": sized(
        layers.ChannelShuffle,
        "shuffle",
        (IMAGE + r":g(?P<g>\d+)", "28x28x64:g2"),
        groups=itemgetter("g"),
    ),
    "depth_to_space": sized(layers.DepthToSpace, "blocks", _BLOCKS, block=itemgetter("b")),
    "pixel_shuffle": sized(
        layers.DepthToSpace, "blocks", _BLOCKS, block=itemgetter("b"), mode="CRD"
    ),
    "space_to_depth": sized(
        layers.SpaceToDepth, "blocks", (_BLOCKS[0], "56x56x16:b2"), block=itemgetter("b")
    ),
    "tile": plain(unary(layers.Tile, "tile", repeats=(1, 2, 2, 1))),
    "gather": sized(
        layers.Gather, "gather", _SMALL, axis=3, indices=lambda s: tuple(reversed(range(s["c"])))
    ),
    "reshape": sized(
        layers.Reshape, "reshape", _LARGE, shape=lambda s: (1, s["h"] * s["w"] * s["c"])
    ),
    "slice": sized(
        layers.StridedSlice,
        "slice",
        _LARGE,
        parts=lambda s: (layers.AxisSlice(3, 0, max(1, s["c"] // 2)),),
    ),
    "to_d32": _layout,
    "from_d32": _layout,
    "add": _pairs(layers.Elementwise, "sum", "56x56x64", kind="sum"),
    "multiply": _pairs(layers.Elementwise, "product", "56x56x64", kind="product"),
    "divide": _pairs(layers.Elementwise, "div", "56x56x64", kind="div"),
    "relu": plain(unary(layers.Neuron, "relu", function="clamp")),
    "sigmoid": plain(unary(layers.Neuron, "sigmoid", function="sigmoid")),
    "prelu": plain(unary(layers.Prelu, "prelu", slope="slope"), _per_channel),
    "batch_norm": plain(
        unary(layers.BatchNorm, "norm", scale="scale", shift="shift"), _scale_and_shift
    ),
    "reduce_mean": plain(unary(layers.Reduce, "mean", kind="mean", axes=(3,))),
    "reduce_max": plain(unary(layers.Reduce, "max", kind="max", axes=(1,))),
    "argmax": plain(unary(layers.ArgExtremum, "argmax", kind="max", axis=3)),
    "softmax": sized(
        layers.Softmax,
        "softmax",
        (r"((?P<h>\d+)x(?P<w>\d+)x)?(?P<c>\d+)", "1000 or 64x64x21"),
        axes=lambda s: (3 if "h" in s else 1,),
    ),
    "layer_norm": plain(
        unary(layers.Normalization, "norm", axes=(3,), scale="scale", shift="shift", **_DEVIATION),
        _scale_and_shift,
    ),
    "instance_norm": plain(unary(layers.Normalization, "norm", axes=(1, 2), **_DEVIATION)),
    "narrow": KernelKind(*_LARGE, lambda sizes: unary(layers.Convert, "narrow"), operand_bits=16),
    "max_pool": sized(
        layers.Pooling, "pool", (IMAGE + WINDOW, "112x112x64:3x3:s2"), kind="max", window=_inside
    ),
    "average_pool": sized(
        layers.Pooling, "pool", (IMAGE + WINDOW, "7x7x1024:7x7"), kind="average", window=_inside
    ),
    "resize": sized(layers.Resize, "resize", _SIZES, kind="bilinear", size=itemgetter("h2", "w2")),
    "resize_nearest": sized(
        layers.Resize, "resize", _SIZES, kind="nearest", size=itemgetter("h2", "w2")
    ),
    "lrn": sized(
        *(layers.LocalResponseNorm, "lrn", (IMAGE + r":(?P<size>\d+)", "55x55x96:5")),
        **{"size": _norm_size, "alpha": 1e-4, "beta": 0.75, "bias": 1.0},
    ),
    "colours": sized(
        *(layers.ColourConversion, "colours", _COLOUR),
        input_encoding_in=lambda s: _COLOURS[s["c"]],
        input_encoding_out="bgr",
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
    "deconv": sized(
        *(layers.Deconvolution, "deconv", _CHANNELS, _filters),
        **{"weight": "weight", "window": _inside, "output_channels": itemgetter("out")},
    ),
    "fully_connected": sized(
        *(layers.FullyConnected, "fc", _ROWS, lambda sizes: ((sizes["c"], sizes["out"]),)),
        **{"weight": "weight", "output_channels": itemgetter("out")},
    ),
    "matmul": KernelKind(
        r"((?P<b>\d+)x)?(?P<n>\d+)x(?P<c>\d+):(?P<out>\d+)",
        "196x64:196, or 12x196x64:196 for twelve of them",
        lambda sizes: layers.MatMul("matmul", ("a", "b"), ("out",)),
        operands=_matrices,
    ),
    **joined(__name__, "KINDS"),
}


def kernel_call(kind: str, text: str) -> KernelCall:
    """Return the kernel call that `text` describes; HexsimError if it describes none."""
    if kind not in KINDS:
        raise unknown("kernel", kind, KINDS)
    kernel_kind = KINDS[kind]
    match = re.fullmatch(kernel_kind.pattern, text, re.ASCII)
    if match is None:
        raise HexsimError(
            f"{spelled('shape')} '{text}' is not a shape that {kind} takes; write e.g. "
            f"{kernel_kind.example}"
        )
    typed = f"{spelled('shape')} '{text}'"
    sizes = {name: int(value) for name, value in match.groupdict().items() if value}
    for size in sizes.values():
        if not 1 <= size <= _LARGEST:
            raise HexsimError(f"{typed}: sizes are from 1 to {_LARGEST}, not {size}")
    groups = sizes.get("g", 1)
    if sizes["c"] % groups or sizes.get("out", 0) % groups:
        raise HexsimError(f"{typed}: {groups} groups do not divide both channel counts")
    equal_shapes = (_source(sizes),) * kernel_kind.inputs
    operands = equal_shapes if kernel_kind.operands is None else kernel_kind.operands(sizes)
    try:
        layer = kernel_kind.layer(sizes)
        results = layer.output_shapes(operands)
    except InvalidDataError as error:
        raise HexsimError(f"{typed}: {error}") from None
    if min(results[0]) < 1:
        raise HexsimError(f"{typed}: the window is larger than the image")
    return KernelCall(
        layer=layer,
        engine="hvx",
        operands=operands,
        results=results,
        parameters=kernel_kind.parameters(sizes),
        activation_bits=8,
        weight_bits=8,
        symmetric_weights=False,
        operand_bits=kernel_kind.operand_bits,
    )


def _source(sizes: Sizes) -> Shape:
    if "h" in sizes:
        return (1, sizes["h"], sizes["w"], sizes["c"])
    return (sizes.get("n", 1), sizes["c"])
