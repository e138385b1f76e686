"""The MAC array: the lanes that a layer fills, and the clocks that it takes.

The array multiplies `depth_lanes` inputs with as many weights for each of `channel_lanes` output
channels and `pixel_lanes` neighbouring pixels of a row, every clock. A layer that does not fill a
dimension leaves lanes idle: depth lanes with few input channels, channel lanes with few output
channels, pixel lanes with narrow images and fully connected layers. A depthwise channel
has one input channel only, so its depth lanes take the taps of one row of the window instead.

The local memory feeds the array with `feed_bytes_per_clk` of activations. Each activation is used
by all channel lanes (except in depthwise layers, whose channels have separate inputs) and by all
taps of the window that read it; so 1x1 convolutions leave lanes idle that 3x3 ones fill. This is
inferred from 1x1 convolutions that run at a tenth of the claimed peak.

After the array a stage requantises, pools, adds and looks up `stage_bytes_per_clk` codes
(quantised values) per clock while the array computes the next pixels.

Left out: sparsity, Winograd, compressed weights.
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
        """Return the array of a chip; its pixel lanes follow from the MAC rate."""
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
        """Return the clocks of `rows` output rows, `channels` output channels and `depth` inputs.

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
        """Return how often the channel lanes are filled; each group is filled separately."""
        head = min(channels, -first % per_group)
        groups, tail = divmod(channels - head, per_group)
        return (
            math.ceil(head / self.channel_lanes)
            + groups * math.ceil(per_group / self.channel_lanes)
            + math.ceil(tail / self.channel_lanes)
        )

    def stage_clocks(self, moved_bytes: int) -> int:
        """Return the clocks in which the stage after the array reads or writes `moved_bytes`."""
        return math.ceil(moved_bytes / self.stage_bytes_per_clk)
