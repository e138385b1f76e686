"""Convolution: an implicit matrix product over the padded input.

A window is a few runs of consecutive elements: kernel rows when columns are not dilated, single
taps otherwise. No patch matrix is built; kernels take the start of each output pixel's window and
the offsets of its runs. `hexsim.int8.algorithms` says which kernel multiplies; their values are
equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hexsim.binding.call import Codes, Int32
from hexsim.binding.convolution import BoundConvolution
from hexsim.int8 import guarded_product, panels, tiled_product
from hexsim.int8.guarded_panels import GuardedPanels, pack_guarded
from hexsim.int8.guarded_tile import ROWS
from hexsim.int8.microkernel import COLUMNS, STEP_BYTES, tile_of
from hexsim.int8.padded import Int64, PaddedInput
from hexsim.int8.plain_product import convolve_plain
from hexsim.int8.prepared import Out
from hexsim.int8.step import FIRST, LAST, Row, Scratch, Step, Work, Workspace

_FEW_PIXELS = 800
"""Up to so many pixels threads share out channels, so that each reads a part of the weights."""


def _pieces(
    pixels: int, panels: int, tile_rows: int, tile_panels: int = 1
) -> tuple[tuple[int | Row, ...], tuple[int, int]]:
    """First and last pixel and panel of a piece, and a step's rows and grain: one or the other."""
    if pixels <= _FEW_PIXELS and panels > tile_panels:
        return (0, pixels, FIRST, LAST), (panels, tile_panels)
    return (FIRST, LAST, 0, panels), (pixels, tile_rows)


class _Runs:
    """The runs of consecutive elements that a window of `call` consists of."""

    def __init__(self, call: BoundConvolution) -> None:
        self.groups = call.groups
        self.group_channels = call.inputs[0].shape[3] // call.groups
        self.columns: int = call.weights.codes.shape[-1] // call.groups
        self._by_row = call.window.dilations[1] == 1 and call.groups == 1
        self.length = self.group_channels * (call.window.kernel[1] if self._by_row else 1)

    def offsets(self, padded: PaddedInput) -> Int64:
        """Elements from a window's start to each run."""
        taps = padded.tap_offsets()
        return np.ascontiguousarray(taps[:, 0] if self._by_row else taps.ravel())


class _Product:
    """What is multiplied, how it lies in memory, and what becomes of the sums."""

    padded: PaddedInput
    weights: panels.Steps
    preload: Int32
    weight_zero = 0

    def __init__(self, call: BoundConvolution) -> None:
        self.runs, self.tail = _Runs(call), call.tail
        self.preload = call.tail.preload.astype(np.int32, copy=False)

    @cached_property
    def starts(self) -> Int64:
        """Element of each pixel's window."""
        return self.padded.starts()

    @cached_property
    def offsets(self) -> Int64:
        """Elements from there to each run."""
        return self.runs.offsets(self.padded)

    @cached_property
    def matrix(self) -> panels.Steps:
        """The weights as (runs, run, groups, columns)."""
        runs = self.runs
        return self.weights.reshape(len(self.offsets), runs.length, runs.groups, runs.columns)

    @property
    def geometry(self) -> tuple[Int64, Int64, int, int, int, int]:
        """The first arguments of every kernel after the activations."""
        runs = self.runs
        return (
            self.starts, self.offsets, runs.length, runs.groups, runs.group_channels, runs.columns
        )  # fmt: skip

    @property
    def panel_constants(self) -> tuple[int | Int32, ...]:
        """Zero point of the weights, and the tail by panels."""
        tail = self.tail
        constants = (self.preload, tail.multiplier, tail.shift)
        return (
            self.weight_zero, *(panels.pad_to_panels(one, self.runs.groups) for one in constants),
            int(tail.shift.any()), tail.low, tail.high,
        )  # fmt: skip

    @property
    def panel_count(self) -> int:
        """Panels of all groups."""
        return self.runs.groups * -(-self.runs.columns // COLUMNS)


class ByDistances(_Product):
    """int16 distances from both zero points."""

    def __init__(self, call: BoundConvolution) -> None:
        super().__init__(call)
        x = call.inputs[0]
        self.padded = PaddedInput(x.shape, call.window, x.zero_point)
        self.weights = call.weights.codes.astype(np.int16) - np.int16(call.weights.zero_point)


class ByCodes(_Product):
    """Codes by signed weights (hexsim.int8.panels)."""

    def __init__(self, call: BoundConvolution) -> None:
        super().__init__(call)
        x, slack = call.inputs[0], self.runs.length % STEP_BYTES > 0
        self.padded = PaddedInput(x.shape, call.window, x.zero_point, "uint8", slack)
        signed, self.weight_zero = panels.as_signed(call.weights)
        self.preload = panels.less_codes_zero(self.preload, signed, self.weight_zero, x.zero_point)
        self.weights = signed

    @cached_property
    def guarded(self) -> GuardedPanels:
        """The weights packed against saturation."""
        steps = -(-self.runs.length // STEP_BYTES)
        return pack_guarded(panels.pack_panels(self.matrix), self.offsets, steps)


class PlainConvolution:
    """Weights are packed (groups, columns, runs, run), int16."""

    def __init__(self, call: BoundConvolution) -> None:
        product = ByDistances(call)
        self._padded, self._pixels = product.padded, product.starts.size
        packed = np.ascontiguousarray(product.matrix.transpose(2, 3, 0, 1)).reshape(-1)
        tail = call.tail
        self._constants = (
            *product.geometry, packed, product.preload, tail.multiplier, tail.shift, tail.low,
            tail.high,
        )  # fmt: skip
        self._channels = tail.multiplier.size

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(inputs[0], workspace)
        where, rows = _pieces(self._pixels, self._channels, 1)
        arguments = (x, *self._constants, output.reshape(-1), *where)
        return [*copying, Step(convolve_plain(output.dtype), arguments, *rows)]


class TiledConvolution:
    """Weights are packed by `hexsim.int8.panels`."""

    def __init__(self, product: _Product) -> None:
        packed = panels.pack_panels(product.matrix).view(np.uint8)
        self._padded = product.padded
        self._constants = (*product.geometry, packed, *product.panel_constants)
        self._pixels, self._panels = product.starts.size, product.panel_count
        self._offsets = product.offsets.size
        self._tile = tile_of(np.dtype(product.padded.dtype).itemsize)

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(inputs[0], workspace)
        tile = self._tile
        where, rows = _pieces(self._pixels, self._panels, tile.rows, tile.panels)
        arguments = (
            x, *self._constants, output.reshape(-1), *where, tile.rows, tile.panels,
            Scratch(self._offsets, np.int64), Scratch(tile.rows, np.int64),
            Scratch(tiled_product.BLOCK, np.int32),
            Scratch(tile.rows * tile.panels * COLUMNS, np.int32),
            Scratch(tile.rows * COLUMNS, np.uint8),
        )  # fmt: skip
        multiply = tiled_product.convolve_tiled(x.dtype, output.dtype)
        return [*copying, Step(multiply, arguments, *rows)]


class GuardedConvolution:
    """Weights are packed by `hexsim.int8.guarded_panels`."""

    def __init__(self, product: ByCodes) -> None:
        packed = product.guarded
        self._padded = product.padded
        self._constants = (
            *product.geometry, packed.weights.view(np.uint8), *product.panel_constants
        )  # fmt: skip
        self._pixels, self._panels = product.starts.size, product.panel_count
        self._steps = (packed.offsets, packed.table)

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        x, copying = self._padded.copied(inputs[0], workspace)
        where, rows = _pieces(self._pixels, self._panels, ROWS)
        arguments = (
            x, *self._constants, output.reshape(-1), *where,
            *self._steps, Scratch(ROWS, np.int64), Scratch(guarded_product.BLOCK, np.int32),
            Scratch(ROWS * COLUMNS, np.int32), Scratch(ROWS * COLUMNS, np.uint8),
        )  # fmt: skip
        return [*copying, Step(guarded_product.convolve_guarded(output.dtype), arguments, *rows)]
