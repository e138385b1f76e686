"""Convolution: an implicit matrix product over the padded input.

A window is a few runs of consecutive elements: kernel rows when columns are not dilated, single
taps otherwise. No patch matrix is built; kernels take the start of each output pixel's window and
the offsets of its runs. `autotuner` says which kernel multiplies; their values are equal. The zero
point of weights that are asymmetric (`gemm.panels`) multiplies the sum of codes in each window.
"""

import math
from functools import cached_property

import numpy as np

from hexsim.int8.gemm import panels
from hexsim.int8.gemm.arguments import Int16, PaddedInput, Piece, Windows
from hexsim.int8.gemm.panels import GuardedPanels, pack_guarded
from hexsim.int8.gemm.tiled_product import (
    Column,
    PanelTable,
    Tiles,
    convolve_guarded,
    convolve_tiled,
    pieces,
)
from hexsim.int8.machine_code.inner_loops.microkernel import (
    GUARDED,
    RegisterTile,
    sum_of_codes,
    tile_of,
)
from hexsim.int8.machine_code.jit import Template, kernel, template
from hexsim.int8.panel import COLUMNS, STEP_BYTES, SUM_BYTES
from hexsim.int8.requantize import RequantizeStages, all_stages, requantize, row_stage
from hexsim.int8.step import ROWS, Buffers, Out, Step, Work
from hexsim.lowering.lowered_call import Codes, Int32, Int64
from hexsim.lowering.products import LoweredConvolution


@kernel("void(uint8[::1],Windows,int64,int32[:,::1],int64,int64)")
def add_codes(
    x: Codes, windows: Windows, weight_zero: int, addends: Int32, first: int, last: int
) -> None:
    """Set `addends` (groups, pixels) to the sums times -`weight_zero`, for some pixels."""
    x_at, starts, runs, run = x.ctypes.data, windows.starts, windows.offsets, windows.run
    for pixel in range(first, last):
        for group in range(addends.shape[0]):
            window = x_at + starts[pixel] + group * windows.group_channels
            total = 0
            for k in range(runs.size):
                total += sum_of_codes(window + runs[k], run)
            addends[group, pixel] = np.int32(-weight_zero * total)


_BLOCK = 96
"""Pixels for which a channel's weights are read once."""


@template("void(int16[::1],Windows,int16[::1],RequantizeStages,{0}[::1],Piece)")
def convolve_plain(
    x: Int16, windows: Windows, weights: Int16, stages: RequantizeStages, out: Out, piece: Piece
) -> None:
    """Compute some pixels of some channels."""
    starts, offsets, run, columns = windows.starts, windows.offsets, windows.run, windows.columns
    multiplier, shift, low, high = stages.multiplier, stages.shift, stages.low, stages.high
    preload = stages.preload
    channels, last_pixel = windows.groups * columns, piece.last_pixel
    for block in range(piece.first_pixel, last_pixel, _BLOCK):
        for channel in range(piece.first_panel, piece.last_panel):
            first = channel // columns * windows.group_channels
            for pixel in range(block, min(block + _BLOCK, last_pixel)):
                total = preload[channel]
                for tap in range(offsets.size):
                    start = starts[pixel] + offsets[tap] + first
                    a = x[start : start + run]
                    start = (channel * offsets.size + tap) * run
                    b = weights[start : start + run]
                    partial = np.int32(0)
                    for k in range(run):
                        product = np.int32(np.int32(a[k]) * np.int32(b[k]))
                        partial = np.int32(partial + product)
                    total = np.int32(total + partial)
                if out.itemsize == SUM_BYTES:
                    out[pixel * channels + channel] = total
                else:
                    out[pixel * channels + channel] = requantize(
                        total, multiplier[channel], shift[channel], low, high
                    )


class _WindowRuns:
    """The runs of consecutive elements that a window of `call` consists of."""

    def __init__(self, call: LoweredConvolution) -> None:
        self.groups = call.groups
        self.group_channels = call.inputs[0].shape[3] // call.groups
        self.columns: int = call.weights.codes.shape[-1] // call.groups
        self._by_row = call.window.dilations[1] == 1 and call.groups == 1
        self.length = self.group_channels * (call.window.kernel[1] if self._by_row else 1)

    def offsets(self, padded: PaddedInput) -> Int64:
        """Return the elements from a window's start to each run."""
        taps = padded.tap_offsets()
        return np.ascontiguousarray(taps[:, 0] if self._by_row else taps.ravel())


class _Product:
    """The operands of a product, how they lie in memory, and how sums become codes."""

    padded: PaddedInput
    weights: panels.Matrix
    preload: Int32
    weight_zero = 0

    def __init__(self, call: LoweredConvolution) -> None:
        self.runs, self.stage = _WindowRuns(call), call.stage
        self.preload = call.stage.preload.astype(np.int32, copy=False)

    @cached_property
    def starts(self) -> Int64:
        """Return the element at which each pixel's window begins."""
        return self.padded.starts()

    @cached_property
    def offsets(self) -> Int64:
        """Return the elements from there to each run."""
        return self.runs.offsets(self.padded)

    @cached_property
    def matrix(self) -> panels.Matrix:
        """Return the weights as (runs, run, groups, columns)."""
        runs = self.runs
        return self.weights.reshape(len(self.offsets), runs.length, runs.groups, runs.columns)

    @property
    def windows(self) -> Windows:
        """Return the windows as kernels read them."""
        runs = self.runs
        return Windows(
            self.starts, self.offsets, runs.length, runs.groups, runs.group_channels, runs.columns
        )

    @cached_property
    def item_bytes(self) -> int:
        """Return the bytes of an activation."""
        return np.dtype(self.padded.dtype).itemsize

    @property
    def steps_per_run(self) -> int:
        """Return the steps of each run, the last partly used."""
        return -(-self.runs.length * self.item_bytes // STEP_BYTES)

    @cached_property
    def step_offsets(self) -> Int64:
        """Return the bytes from a pixel's window to each step."""
        runs = self.item_bytes * self.offsets.reshape(-1, 1)
        steps: Int64 = (runs + STEP_BYTES * np.arange(self.steps_per_run)).reshape(-1)
        return steps

    @property
    def panel_count(self) -> int:
        """Return the panels of all groups."""
        return self.runs.groups * -(-self.runs.columns // COLUMNS)


class ByDistances(_Product):
    """A product of int16 distances from both zero points."""

    def __init__(self, call: LoweredConvolution) -> None:
        super().__init__(call)
        x = call.inputs[0]
        self.padded = PaddedInput(x.shape, call.window, x.zero_point)
        self.weights = call.weights.codes.astype(np.int16) - np.int16(call.weights.zero_point)


class ByCodes(_Product):
    """A product of codes and signed weights (hexsim.int8.gemm.panels)."""

    def __init__(self, call: LoweredConvolution) -> None:
        super().__init__(call)
        x, slack = call.inputs[0], self.runs.length % STEP_BYTES > 0
        self.padded = PaddedInput(x.shape, call.window, x.zero_point, "uint8", slack)
        codes, zero = call.weights.codes, call.weights.zero_point
        self.preload = panels.less_codes_zero(self.preload, codes, zero, x.zero_point)
        self.weights, self.weight_zero = codes, panels.signed_zero(call.weights)

    @cached_property
    def guarded(self) -> GuardedPanels:
        """Return the weights packed against saturation."""
        packed = panels.pack_panels(self.matrix)
        return pack_guarded(packed, self.offsets, self.steps_per_run)


class PlainConvolution:
    """A convolution in plain loops; weights are packed (groups, columns, runs, run), int16."""

    def __init__(self, call: LoweredConvolution) -> None:
        product = ByDistances(call)
        self._padded, self._pixels = product.padded, product.starts.size
        packed = np.ascontiguousarray(product.matrix.transpose(2, 3, 0, 1)).reshape(-1)
        self._constants = (product.windows, packed, all_stages(call.stage))
        self._channels = call.stage.multiplier.size

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(at.inputs[0], at.workspace)
        piece, rows = pieces(self._pixels, self._channels, 1)
        arguments = (x, *self._constants, at.output.reshape(-1), piece)
        return [*copying, Step(convolve_plain(at.output.dtype), arguments, *rows)]


class _Tiled:
    """A convolution in tiles of `tile`; `weights` are packed, `offsets` has the bytes to each step.

    `steps` has for each panel its first step, pairs of steps, single steps, and first offset.
    """

    def __init__(
        self, product: _Product, tile: RegisterTile, kernel: Template, weights: panels.Steps,
        offsets: Int64, steps: tuple[Column, Column, Column, Column],
    ) -> None:  # fmt: skip
        runs, stage, item_bytes = product.runs, product.stage, product.item_bytes
        self._padded, self._pixels = product.padded, product.starts.size
        group, panel = np.divmod(np.arange(product.panel_count), product.panel_count // runs.groups)
        column = COLUMNS * panel
        table = PanelTable(
            *steps, input=group * runs.group_channels * item_bytes, addends=group * self._pixels,
            column=group * runs.columns + column, rest=runs.columns - column,
        )  # fmt: skip
        way, multiplier = row_stage(stage)
        constants = (product.preload, multiplier, stage.shift)
        self._tiles = Tiles(
            kernel, tile, item_bytes * product.starts, offsets, table.stacked(tile), weights,
            panels.panel_constants(constants, runs.groups), way, stage,
        )  # fmt: skip
        self._sums = (product.windows, product.weight_zero)
        self._summed_groups = runs.groups if product.weight_zero else 0

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(at.inputs[0], at.workspace)
        work: list[Work] = [*copying]
        shape = (self._summed_groups, self._pixels)
        size = math.prod(shape)
        # Kernels read an addend for every row of a tile, of which the last may be partly used.
        addends = at.workspace.empty(size + self._tiles.tile.rows - 1 if size else 0, np.int32)
        if size:
            sums = addends[:size].reshape(shape)
            work.append(Step(add_codes, (x, *self._sums, sums, *ROWS), self._pixels))
        return [*work, self._tiles.step(x, addends, at.output)]


class TiledConvolution(_Tiled):
    """A tiled convolution whose weights are packed by `gemm.panels`."""

    def __init__(self, product: _Product) -> None:
        offsets = product.step_offsets
        steps = (offsets.size * np.arange(product.panel_count), 0, offsets.size, 0)
        super().__init__(
            product, tile_of(product.item_bytes), convolve_tiled,
            panels.pack_panels(product.matrix), offsets, steps,
        )  # fmt: skip


class GuardedConvolution(_Tiled):
    """A tiled convolution whose weights are packed by `gemm.guarded_panels`."""

    def __init__(self, product: ByCodes) -> None:
        packed = product.guarded
        first, twos, ones = packed.table.T
        steps = (first, twos, ones, first)
        super().__init__(product, GUARDED, convolve_guarded, packed.weights, packed.offsets, steps)
