"""The MAC array: which of its lanes a layer fills, and for how many clocks.

The array multiplies `depth_lanes` inputs with as many weights for each of `channel_lanes` output
channels and `pixel_lanes` neighbouring pixels of a row, every clock. A layer that does not fill a
dimension pays for the idle lanes: few input channels idle the depth lanes, few output channels
the channel lanes, narrow images and fully connected layers the pixel lanes. A depthwise channel
has one input channel only, so its depth lanes take the taps of one row of the window instead.

The local memory feeds the array with `feed_bytes_per_clk` of activations, each of which serves all
channel lanes (but for depthwise layers, whose channels each have their own) and all taps of the
window that look at it; so 1x1 convolutions leave lanes idle that 3x3 ones fill. That is an
inference from 1x1 convolutions that run at a tenth of the claimed peak.

Behind the array a stage requantises, pools, adds and looks up `stage_bytes_per_clk` codes per
clock while the array goes on with the next pixels.

Left out: sparsity, Winograd, what compressed weights save.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hexsim.datasheets.chips.chip import Hta
from hexsim.hta.shapes import MacShape


@dataclass(frozen=True)
class MacArray:
    """Lanes and rates per clock."""

    depth_lanes: int
    channel_lanes: int
    pixel_lanes: int
    stage_bytes_per_clk: float
    feed_bytes_per_clk: float
    int16_rate: float

    @classmethod
    def of(cls, hta: Hta) -> MacArray:
        """The array of a chip; the MAC rate says how many pixels it takes at once."""
        plane = hta.depth_lanes * hta.channel_lanes
        return cls(
            depth_lanes=hta.depth_lanes,
            channel_lanes=hta.channel_lanes,
            pixel_lanes=max(1, int(hta.macs_per_clk) // plane),
            stage_bytes_per_clk=hta.stage_bytes_per_clk,
            feed_bytes_per_clk=hta.feed_bytes_per_clk,
            int16_rate=hta.int16_rate,
        )

    @property
    def macs_per_clk(self) -> int:
        """Multiply-accumulates per clock with every lane filled."""
        return self.depth_lanes * self.channel_lanes * self.pixel_lanes

    def clocks(
        self, shape: MacShape, *, rows: int, channels: int, depth: int, bits: int, first: int = 0
    ) -> int:
        """Clocks for `rows` of the output, `channels` of its channels and `depth` of the inputs.

        `bits` is the width of the activations, `first` the first of the channels.
        """
        pixels = rows * math.ceil(shape.width / self.pixel_lanes)
        height, width = shape.kernel
        if shape.depthwise:
            steps = height * math.ceil(width / self.depth_lanes)
            passes = math.ceil(channels / self.channel_lanes)
        else:
            steps = height * width * math.ceil(depth / self.depth_lanes)
            passes = self._passes(shape.channels // shape.groups, first, channels)
        working = pixels * steps * passes / (1.0 if bits <= 8 else self.int16_rate)
        inputs = channels if shape.depthwise else depth * passes
        fed = rows * shape.width * shape.fresh_pixels * inputs * bits / 8
        return math.ceil(max(working, fed / self.feed_bytes_per_clk))

    def _passes(self, per_group: int, first: int, channels: int) -> int:
        """How often the channel lanes are filled; channels of two groups share no inputs."""
        head = min(channels, -first % per_group)
        groups, tail = divmod(channels - head, per_group)
        return (
            math.ceil(head / self.channel_lanes)
            + groups * math.ceil(per_group / self.channel_lanes)
            + math.ceil(tail / self.channel_lanes)
        )

    def stage_clocks(self, moved_bytes: int) -> int:
        """Clocks in which the stage behind the array reads or writes `moved_bytes` codes."""
        return math.ceil(moved_bytes / self.stage_bytes_per_clk)
