"""The MAC array: the loop nest of a layer, the lanes that it fills, the clocks that it takes.

A fully connected layer is a 1x1 convolution of a row with one pixel per item of its batch, a
deconvolution is a convolution of all its phases; the batch of an image counts as rows.

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

from hexsim.datasheets.chips import Hta
from hexsim.hta.layout import is_flat, padded_width, tensor_bytes
from hexsim.hvx.layout import DEPTH_SLICE, ceil_div
from hexsim.layers import Convolution, Deconvolution, FullyConnected
from hexsim.planning.kernel_forms import in_phases
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass, replace

_BIAS_BYTES = 4


@dataclass(frozen=True)
class MacShape:
    """Output (`rows`, `width`, `channels`) from `depth` input channels per group.

    `input_row_bytes` is one stored row of the whole input, `input_rows` the number of rows;
    `fresh_pixels` is the number of input pixels that an output pixel reads and its neighbours do
    not; an output row is stored with `stored_width` pixels, its channels in multiples of
    `channel_step`. Where the stored size of the output differs from the computed size (the phases
    of a deconvolution are channels), `stored_per_made` are the bytes of both.
    """

    rows: int
    width: int
    stored_width: int
    channels: int
    channel_step: int
    depth: int
    groups: int
    depthwise: bool
    kernel: tuple[int, int]
    fresh_pixels: int
    row_step: int
    row_reach: int
    input_rows: int
    input_row_bytes: int
    activation_bytes: int
    weight_bits: int
    stored_per_made: tuple[int, int] = (1, 1)

    @classmethod
    def of(cls, call: KernelCall, source_bytes: int) -> MacShape | None:
        """Return the loop nest of a layer with multiply-accumulates, None for other layers.

        `source_bytes` is the size of the input as it is stored.
        """
        size = max(1, call.activation_bits // 8)
        layer, source, result = call.layer, call.operands[0], call.results[0]
        if isinstance(layer, FullyConnected):
            depth = math.prod(source[1:])
            return cls(
                1, source[0], source[0], layer.output_channels, 1, depth, 1, False, (1, 1), 1, 1,
                1, 1, source_bytes, size, call.weight_bits,
            )  # fmt: skip
        if isinstance(layer, Deconvolution):
            phases = in_phases(call)
            sizes = [tensor_bytes(shape, 8 * size) for shape in (result, phases.results[0])]
            nest = cls.of(phases, source_bytes)
            return nest and replace(nest, stored_per_made=(sizes[0], sizes[1]))
        if not isinstance(layer, Convolution):
            return None
        batch, height, _, channels = source
        return cls(
            rows=batch * result[1],
            width=result[2],
            stored_width=padded_width(result),
            channels=layer.output_channels,
            channel_step=1 if is_flat(result) else DEPTH_SLICE,
            depth=channels // layer.groups,
            groups=layer.groups,
            depthwise=layer.is_depthwise(channels),
            kernel=layer.window.kernel,
            fresh_pixels=math.prod(map(min, layer.window.kernel, layer.window.strides)),
            row_step=layer.window.strides[0],
            row_reach=layer.window.reach[0],
            input_rows=batch * height,
            input_row_bytes=source_bytes // (batch * height),
            activation_bytes=size,
            weight_bits=call.weight_bits,
        )

    def input_bytes(self, rows: int) -> int:
        """Return the bytes of the input rows that `rows` output rows read."""
        needed = min(self.input_rows, (rows - 1) * self.row_step + self.row_reach)
        return needed * self.input_row_bytes

    def weight_bytes(self, channels: int, depth: int) -> int:
        """Return the bytes of the weights and 32-bit biases of some output channels and inputs."""
        taps = self.kernel[0] * self.kernel[1]
        return channels * (math.ceil(taps * depth * self.weight_bits / 8) + _BIAS_BYTES)

    def output_bytes(self, rows: int, channels: int) -> int:
        """Return the bytes of a piece of the output."""
        stored = math.ceil(channels / self.channel_step) * self.channel_step
        computed = rows * self.stored_width * stored * self.activation_bytes
        return ceil_div(computed * self.stored_per_made[0], self.stored_per_made[1])


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
