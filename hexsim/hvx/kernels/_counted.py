"""Packets of the hand-written Hexagon NN kernels, counted in their loops.

This is the seam between what a kernel's instructions cost and how a layer is blocked: every
number of packets comes from here as a `LoopCost`, and nothing here knows about layers, threads
or memory. The counts were made by assembling the open sources of Hexagon NN (commit df7ad3c) for
V66 and reading the hardware loops; a comment names the file. "Estimated" marks what was split
from file sizes or written in C there and so could not be counted.

Left out: stalls; a loop only says whether scalar loads feed its multiplies (`scalar_fed`).

In the formulas `fw` is the filter width and `depth_rows` is filter height times sheets of input
channels: the number of (filter row, sheet) pairs that a tile walks through.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoopCost:
    """Packets of a kernel's loops, and its 128-byte accesses per tile.

    A tile is `pixels` output pixels of `channels` output channels; `row` packets come on top for
    every row of tiles in one sheet, `call` packets for every call. `scalar_fed` loops multiply
    vectors by operands from scalar loads in the loop, and stall on them.
    """

    tile: int
    row: int = 0
    call: int = 0
    pixels: int = 4
    channels: int = 32
    l2_vectors: int = 0
    vtcm_vectors: int = 0
    scalar_fed: bool = False


def conv_v60(fw: int, depth_rows: int) -> LoopCost:
    """gvconv2dbbb_d32_v60_h.S: 16 fw per filter row, row header, 15 for requantise and store."""
    steps = fw * depth_rows
    return LoopCost(
        16 * steps + depth_rows + 15, call=35, l2_vectors=8 * steps + 1, scalar_fed=True
    )


def conv_v65_pair(fw: int, depth_rows: int) -> LoopCost:
    """gvconv2dbbb_circ_d64_v65_h.S: two slices at once, eight pixels."""
    steps = fw * depth_rows
    return LoopCost(
        36 * steps + 2 * depth_rows + 45,
        call=60,
        pixels=8,
        channels=64,
        l2_vectors=4,
        vtcm_vectors=32 * steps,
        scalar_fed=True,
    )


def conv_v65_pair_six(fw: int, depth_rows: int) -> LoopCost:
    """gvconv2dbbb_circ6_d64_v65_h.S: two slices, six pixels; the tail is estimated."""
    steps = fw * depth_rows
    return LoopCost(
        28 * steps + 2 * depth_rows + 35,
        call=60,
        pixels=6,
        channels=64,
        l2_vectors=3,
        vtcm_vectors=28 * steps,
        scalar_fed=True,
    )


def conv_v65_single(fw: int, depth_rows: int) -> LoopCost:
    """gvconv2dbbb_circ_d32_v65_h.S: an odd slice; the tail is estimated."""
    steps = fw * depth_rows
    return LoopCost(
        24 * steps + 2 * depth_rows + 34,
        call=60,
        pixels=8,
        l2_vectors=2,
        vtcm_vectors=8 * steps,
        scalar_fed=True,
    )


def conv_v66(fw: int, depth_rows: int, stride: int) -> LoopCost:
    """gvconv2dbbb_d32_s1f_h_v66.S, and gvconv2dbbb_d32_h_v66.S (estimated tail) for stride 2."""
    steps = fw * depth_rows
    tail = 14 if stride == 1 else depth_rows + 25
    return LoopCost(8 * steps + tail, call=60, l2_vectors=2 * steps + 1, vtcm_vectors=8 * steps)


def conv_input(kernel: tuple[int, int], stride: int) -> LoopCost:
    """inconv2dbbb_d32_v60_h.S and inconv2dbbb332_d32_v60_h.S: depth padded to 4, all versions.

    The tail of 20 is estimated.
    """
    height, width = kernel
    if kernel == (3, 3) and stride == 2:
        return LoopCost(7 * height + 20, call=35, l2_vectors=3 * height + 1, scalar_fed=True)
    taps = height * width
    return LoopCost(2 * taps + height + 20, call=35, l2_vectors=taps + 1, scalar_fed=True)


def activation_sums(fw: int, fh: int) -> LoopCost:
    """gsum_h.S for 1x1, gvint_h.S and gvsuma_h.S otherwise: sums that unsigned weights need.

    A tile is one vector of input, a row four pixels of all its sheets: 6 packets more each, or
    an integral image with 3 more, 9 per 32 pixels and 3 per 32 outputs.
    """
    return LoopCost(1, row=6 if fw == fh == 1 else 5, l2_vectors=1)


CIRCULAR_BUFFER = LoopCost(3, l2_vectors=3)
"""repstream2_h.S: V65 copies each vector of an input row to its circular buffer, twice."""

WEIGHTS_TO_VTCM = LoopCost(1, l2_vectors=1, vtcm_vectors=1)
"""vmemcpy_weights_h.S: per vector of weights."""

RGB_TO_DEPTH_4 = LoopCost(3, l2_vectors=2)
"""copyNto4_h.S: per vector written."""


def depthwise(kernel: tuple[int, int], stride: int) -> LoopCost | None:
    """dwconv2dbbb_{s1,s2}_{3x3,3xN,5xN,7xN}_h.S by filter width; None where there is no loop."""
    height, width = kernel
    if kernel == (3, 3):
        return LoopCost(26, row=7 if stride == 1 else 10, l2_vectors=5 if stride == 1 else 7)
    if width == 3:
        return LoopCost((5 + stride) * height + 12, row=10, l2_vectors=(2 + stride) * height + 1)
    if width in (5, 7):
        return LoopCost(12 * height + 11, row=6 * height + 7, l2_vectors=5 * height + 1)
    return None


def fully_connected(inputs: int, batch: int) -> LoopCost:
    """fullconnlayerbatch1_h.S; fullconnlayerbatch_h.S does two of the batch at a time.

    A tile is 32 outputs of the whole batch.
    """
    if batch == 1:
        return LoopCost(-(-inputs // 4) + 28, l2_vectors=-(-inputs // 4) + 1, scalar_fed=True)
    pairs = -(-batch // 2)
    steps = pairs * -(-inputs // 16)
    return LoopCost(5 * steps + 17 * pairs, l2_vectors=4 * steps + pairs, scalar_fed=True)


def max_pool(kernel: tuple[int, int], strides: tuple[int, int]) -> LoopCost:
    """maxpool_3x3s2_d32.S, maxpool_d32.S, else maxpool_nonaligned_hvx.S per window element."""
    if kernel == (3, 3) and strides == (2, 2):
        return LoopCost(10, row=12, pixels=8, l2_vectors=12)
    if kernel == (3, 3) and strides == (1, 1):
        return LoopCost(6, row=13, pixels=8, l2_vectors=6)
    if kernel == (2, 2) and strides == (2, 2):
        return LoopCost(4, row=12, l2_vectors=5)
    taps = kernel[0] * kernel[1]
    return LoopCost(2 * taps + 1, row=1, l2_vectors=taps + 1)


def average_pool(kernel: tuple[int, int], strides: tuple[int, int]) -> LoopCost:
    """avgpool_d32.S: 3x3 with stride 1, or 21 and one more per window element."""
    if kernel == (3, 3) and strides == (1, 1):
        return LoopCost(11, row=15, pixels=8, l2_vectors=6)
    taps = kernel[0] * kernel[1]
    return LoopCost(21 + taps, l2_vectors=taps + 1)


def local_response_norm(size: int) -> LoopCost:
    """lrn_d32_hvx.S: 72 and 8 per channel of radius and 5, for one vector."""
    radius = size // 2
    return LoopCost(77 + 8 * radius, l2_vectors=12)


ADD = LoopCost(6, l2_vectors=3)
"""quant_add_spec_h.S."""

RESCALE = LoopCost(3, row=6, l2_vectors=2)
"""scalemem_d32.S: one vector of a concat input brought to the output's encoding."""

COPY = LoopCost(1, row=3, l2_vectors=2)
"""scalemem_d32.S, vmemcpy_2d_h.S: one vector copied."""

CLAMP = LoopCost(1, l2_vectors=2)
"""relu_kernel_h.S."""

PRELU = LoopCost(8, row=1, l2_vectors=2)
"""prelu_d32.S."""

TO_D32 = LoopCost(12, row=3, pixels=16, l2_vectors=8)
"""to_d32_h.S: four vectors."""

FROM_D32 = LoopCost(10, pixels=16, l2_vectors=8)
"""from_d32_h.S: four vectors."""

ELEMENTWISE = LoopCost(8, l2_vectors=3)
"""One vector of an elementwise operation that Hexagon NN writes in C (estimated)."""

TABLE = LoopCost(16, l2_vectors=2)
"""One vector of a function of one code, and each pass of a softmax (estimated)."""

SCALAR_PACKETS_PER_MAC = 3
"""Reference kernels in C on the scalar units: load, multiply-accumulate, index (estimated)."""
SCALAR_PACKETS_PER_OUTPUT = 20
"""Their loop control, bounds and requantise per output (estimated)."""
