"""Layers that move elements without computing."""

from hexsim.layers import (
    AxisSlice,
    ChannelShuffle,
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Permute,
    Reshape,
    SpaceToDepth,
    StridedSlice,
    Tile,
)
from hexsim.studies.probes._kind import IMAGE, KernelKind, Kinds, Sizes, plain, unary


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
}
