"""How a depthwise layer is mapped to the vector loops, which support few windows directly.

The loops support filters 3, 5 and 7 taps wide, any height and vertical step, and steps of 1 or 2
along a row. All other windows are rewritten, as Hexagon NN and its graphs do:

- dilation: SpaceToBatch, the loop over images of neighbouring taps, BatchToSpace;
- a filter too wide, or a step above 2 along the row, but not down the column: height and width
  are exchanged before and after;
- a filter too wide in both directions: pieces of 7 columns, summed up;
- steps above 2 in both directions: more positions are computed than needed, and some are dropped;
- several outputs per channel: one chunk of filters after another, then interleaved channels.

Other widths are filled up with zero taps. Moving pixels or channels costs a table lookup per
vector, in place of loops that are not published.

Sources: Hexagon NN, op_dwise_snode_8bit.c (widths, steps, chunks); TensorFlow's SpaceToBatchND for
dilation; swapped axes inferred from the loops' independent vertical step.
"""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.layout import ceil_div
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall

_WIDTHS = (3, 5, 7)
_MOST_WIDE = _WIDTHS[-1]
_STEPS = (1, 2)


@dataclass(frozen=True)
class DepthwiseForm:
    """A run of a loop, and the rearrangements around it.

    kernel, step: of the loop. rows, width: output positions that it computes, over all images.
    chunks: runs of the loop. moved_before, moved_after: whether input and output are rearranged.
    """

    kernel: tuple[int, int]
    step: int
    rows: int
    width: int
    chunks: int
    moved_before: bool
    moved_after: bool

    @property
    def is_direct(self) -> bool:
        """Whether the loop supports the layer directly."""
        return self.chunks == 1 and not self.moved_before and not self.moved_after

    @classmethod
    def of(cls, call: KernelCall[Convolution]) -> DepthwiseForm:
        """Return the form of a depthwise convolution."""
        window = call.layer.window
        batch, rows, width, channels = as_nhwc(call.results[0])
        multiplier = channels // call.operands[0][-1]
        (height, wide), (down, along) = window.kernel, window.strides
        dilated = window.dilations != (1, 1)
        if dilated:  # phases are computed at every position, whatever the strides
            rows, width, down, along = rows * down, width * along, 1, 1
        swapped = _misfit(wide, along) and not _misfit(height, down)
        if swapped:
            height, wide, down, along, rows, width = wide, height, along, down, width, rows
        step = along if along in _STEPS else 2 - along % 2
        pieces = ceil_div(wide, _MOST_WIDE)
        rearranged = dilated or swapped
        return cls(
            kernel=(height, _filled(ceil_div(wide, pieces))),
            step=step,
            rows=batch * rows,
            width=width * (along // step),
            chunks=pieces * multiplier,
            moved_before=rearranged,
            moved_after=rearranged or multiplier > 1 or along != step,
        )


def _misfit(width: int, step: int) -> bool:
    return width > _MOST_WIDE or step not in _STEPS


def _filled(width: int) -> int:
    """Return the narrowest filter of a loop with at least `width` taps."""
    return next(wide for wide in _WIDTHS if wide >= width)
