"""Layers that multiply; convolutions are padded so that a stride of one keeps the size."""

from hexsim.graph.ir import Shape
from hexsim.layers import Convolution, Deconvolution, FullyConnected, MatMul
from hexsim.studies.probes._kind import IMAGE, WINDOW, KernelKind, Kinds, Sizes, unary, window


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
}
