"""Kernels by name and shape: `conv 56x56x64:64:3x3:s2` as a kernel call, without a network.

Images are height x width x channels. Convolutions are padded so that a stride of one keeps the
size, poolings and deconvolutions are not padded. Everything is 8 bits wide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from hexsim.errors import HexsimError, unknown
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import (
    BatchNorm,
    Concat,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Part,
    Permute,
    Pooling,
    Prelu,
    Reshape,
    Resize,
    Softmax,
    StridedSlice,
    Window,
)
from hexsim.layers.elementwise import ElementwiseKind
from hexsim.planning.plan import KernelCall

_LARGEST = 65_536
_LARGEST_NORM = 65
"""Channels of a response normalisation: a vector of 32 and its neighbours on both sides."""
_IMAGE = r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>\d+)"
_WINDOW = r":(?P<kh>\d+)x(?P<kw>\d+)(:s(?P<s>\d+))?"
_TO = r":(?P<h2>\d+)x(?P<w2>\d+)"
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Kind:
    """One kind of kernel: how its shape is written, and the layer it makes of it."""

    pattern: str
    example: str
    layer: Callable[[Sizes], Layer]
    inputs: int = 1


def _window(sizes: Sizes, *, padded: bool) -> Window:
    high, wide, step = sizes["kh"], sizes["kw"], sizes.get("s", 1)
    top, left = ((high - 1) // 2, (wide - 1) // 2) if padded else (0, 0)
    return Window((high, wide), (step, step), (top, left, top, left))


def _convolution(sizes: Sizes, groups: int, channels: int) -> Layer:
    return Convolution(
        name="conv",
        inputs=("in",),
        outputs=("out",),
        weight="weight",
        window=_window(sizes, padded=True),
        groups=groups,
        output_channels=channels,
    )


def _deconvolution(sizes: Sizes) -> Layer:
    step = sizes.get("s", 1)
    return Deconvolution(
        name="deconv",
        inputs=("in",),
        outputs=("out",),
        weight="weight",
        window=Window((sizes["kh"], sizes["kw"]), (step, step)),
        output_channels=sizes["out"],
    )


def _resize(kind: Literal["nearest", "bilinear"]) -> Callable[[Sizes], Layer]:
    def layer(sizes: Sizes) -> Layer:
        wanted = (sizes["h2"], sizes["w2"])
        return Resize(name="resize", inputs=("in",), outputs=("out",), kind=kind, size=wanted)

    return layer


def _pool(kind: str) -> Callable[[Sizes], Layer]:
    def layer(sizes: Sizes) -> Layer:
        return Pooling(
            name="pool",
            inputs=("in",),
            outputs=("out",),
            kind="max" if kind == "max" else "average",
            window=_window(sizes, padded=False),
        )

    return layer


def _pairs(kind: ElementwiseKind) -> Kind:
    return Kind(
        _IMAGE,
        "56x56x64",
        lambda sizes: Elementwise(name=kind, inputs=("a", "b"), outputs=("out",), kind=kind),
        inputs=2,
    )


def _plain(make: Callable[[Sizes], Layer]) -> Kind:
    return Kind(_IMAGE, "56x56x64", make)


def _reshape(sizes: Sizes) -> Layer:
    flat = (1, sizes["h"] * sizes["w"] * sizes["c"])
    return Reshape(name="reshape", inputs=("in",), outputs=("out",), shape=flat)


def _slice(sizes: Sizes) -> Layer:
    """The first half of the channels."""
    half = (Part(3, 0, max(1, sizes["c"] // 2)),)
    return StridedSlice(name="slice", inputs=("in",), outputs=("out",), parts=half)


def _same(sizes: Sizes) -> Layer:
    """The tensor itself, for changes of layout alone."""
    shape = (1, sizes["h"], sizes["w"], sizes["c"])
    return Reshape(name="layout", inputs=("in",), outputs=("out",), shape=shape)


KINDS: dict[str, Kind] = {
    "conv": Kind(
        _IMAGE + r":(?P<out>\d+)" + _WINDOW + r"(:g(?P<g>\d+))?",
        "56x56x64:64:3x3 or 56x56x64:64:3x3:s2:g2",
        lambda sizes: _convolution(sizes, sizes.get("g", 1), sizes["out"]),
    ),
    "depthwise": Kind(
        _IMAGE + _WINDOW,
        "112x112x32:3x3:s2",
        lambda sizes: _convolution(sizes, sizes["c"], sizes["c"]),
    ),
    "deconv": Kind(
        _IMAGE + r":(?P<out>\d+)" + _WINDOW,
        "28x28x64:32:2x2:s2",
        _deconvolution,
    ),
    "fully_connected": Kind(
        r"((?P<n>\d+)x)?(?P<c>\d+):(?P<out>\d+)",
        "2048:1000, or 4x2048:1000 for a batch of four",
        lambda sizes: FullyConnected(
            name="fc",
            inputs=("in",),
            outputs=("out",),
            weight="weight",
            output_channels=sizes["out"],
        ),
    ),
    "max_pool": Kind(_IMAGE + _WINDOW, "112x112x64:3x3:s2", _pool("max")),
    "average_pool": Kind(_IMAGE + _WINDOW, "7x7x1024:7x7", _pool("average")),
    "resize": Kind(_IMAGE + _TO, "28x28x64:56x56", _resize("bilinear")),
    "resize_nearest": Kind(_IMAGE + _TO, "28x28x64:56x56", _resize("nearest")),
    "add": _pairs("sum"),
    "multiply": _pairs("product"),
    "concat": Kind(
        _IMAGE,
        "28x28x64",
        lambda sizes: Concat(name="concat", inputs=("a", "b"), outputs=("out",), axis=3),
        inputs=2,
    ),
    "relu": _plain(
        lambda sizes: Neuron(name="relu", inputs=("in",), outputs=("out",), function="clamp")
    ),
    "sigmoid": _plain(
        lambda sizes: Neuron(name="sigmoid", inputs=("in",), outputs=("out",), function="sigmoid")
    ),
    "prelu": _plain(
        lambda sizes: Prelu(name="prelu", inputs=("in",), outputs=("out",), slope="slope")
    ),
    "batch_norm": _plain(
        lambda sizes: BatchNorm(
            name="norm", inputs=("in",), outputs=("out",), scale="scale", shift="shift"
        )
    ),
    "lrn": Kind(
        _IMAGE + r":(?P<size>\d+)",
        "55x55x96:5",
        lambda sizes: LocalResponseNorm(
            name="lrn",
            inputs=("in",),
            outputs=("out",),
            size=sizes["size"],
            alpha=1e-4,
            beta=0.75,
            bias=1.0,
        ),
    ),
    "softmax": Kind(
        r"((?P<h>\d+)x(?P<w>\d+)x)?(?P<c>\d+)",
        "1000 or 64x64x21",
        lambda sizes: Softmax(
            name="softmax", inputs=("in",), outputs=("out",), axes=(3 if "h" in sizes else 1,)
        ),
    ),
    "permute": _plain(
        lambda sizes: Permute(
            name="permute", inputs=("in",), outputs=("out",), permutation=(0, 2, 1, 3)
        )
    ),
    "reshape": _plain(_reshape),
    "slice": _plain(_slice),
    "to_d32": _plain(_same),
    "from_d32": _plain(_same),
}


def kernel_call(kind: str, text: str) -> KernelCall:
    """Return the kernel call that `text` describes; HexsimError if it describes none."""
    if kind not in KINDS:
        raise unknown("kernel", kind, KINDS)
    known = KINDS[kind]
    match = re.fullmatch(known.pattern, text, re.ASCII)
    if match is None:
        raise HexsimError(f"--shape '{text}' is no shape of {kind}; write e.g. {known.example}")
    sizes = {name: int(value) for name, value in match.groupdict().items() if value}
    for size in sizes.values():
        if not 1 <= size <= _LARGEST:
            raise HexsimError(f"--shape '{text}': sizes are from 1 to {_LARGEST}, not {size}")
    groups = sizes.get("g", 1)
    if sizes["c"] % groups or sizes.get("out", 0) % groups:
        raise HexsimError(f"--shape '{text}': {groups} groups do not divide both channel counts")
    if sizes.get("size", 1) > _LARGEST_NORM:
        raise HexsimError(f"--shape '{text}': lrn takes windows of up to {_LARGEST_NORM} channels")
    layer = known.layer(sizes)
    source = _source(sizes)
    operands = (source,) * known.inputs
    results = layer.output_shapes(operands)
    if min(results[0]) < 1:
        raise HexsimError(f"--shape '{text}': the window is larger than the image")
    return KernelCall(
        layer=layer,
        engine="hvx",
        operands=operands,
        results=results,
        parameters=_parameters(layer, source),
        activation_bits=8,
        weight_bits=8,
        symmetric_weights=False,
    )


def _source(sizes: Sizes) -> Shape:
    if "h" in sizes:
        return (1, sizes["h"], sizes["w"], sizes["c"])
    return (sizes.get("n", 1), sizes["c"])


def _parameters(layer: Layer, source: Shape) -> tuple[Shape, ...]:
    channels = source[-1]
    match layer:
        case Convolution(window=window, groups=groups, output_channels=out):
            return ((*window.kernel, channels // groups, out),)
        case Deconvolution(window=window, output_channels=out):
            return ((*window.kernel, channels, out),)
        case FullyConnected(output_channels=out):
            return ((channels, out),)
        case BatchNorm():
            return ((channels,), (channels,))
        case Prelu():
            return ((channels,),)
    return ()
