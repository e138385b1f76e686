"""Layers of images without weights. Poolings are not padded."""

from hexsim.errors import InvalidDataError
from hexsim.layers import ColourConversion, LocalResponseNorm, Pooling, Resize
from hexsim.layers.images import ConvertedEncoding
from hexsim.studies.probes._kind import IMAGE, WINDOW, KernelKind, Kinds, Sizes, unary, window

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


KINDS: Kinds = {
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
}
