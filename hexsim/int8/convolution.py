"""Convolution: an implicit matrix product over the padded input.

A window is a few runs of consecutive elements: kernel rows when columns are not dilated, single
taps otherwise. No patch matrix is built; kernels take the start of each output pixel's window and
the offsets of its runs. `hexsim.int8.choice` says which kernel multiplies; their values are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hexsim.binding.call import Codes
from hexsim.binding.convolution import BoundConvolution
from hexsim.int8 import panels
from hexsim.int8.choice import Algorithm, choose
from hexsim.int8.microkernel import COLUMNS, STEP_BYTES, tile_of
from hexsim.int8.padded import Int64, PaddedInput
from hexsim.int8.plain_product import convolve_plain
from hexsim.int8.prepared import Out, PreparedCall
from hexsim.int8.tiled_product import BLOCK, convolve_tiled


def prepare_convolution(call: BoundConvolution) -> PreparedCall:
    """Prepare a dense or grouped convolution for the kernel that suits it."""
    algorithm = choose()
    return PlainConvolution(call) if algorithm == "portable" else TiledConvolution(call, algorithm)


class _Runs:
    """The runs of consecutive elements that a window of `call` consists of."""

    def __init__(self, call: BoundConvolution) -> None:
        self.groups = call.groups
        self.group_channels = call.inputs[0].shape[3] // call.groups
        self.columns = call.weights.codes.shape[-1] // call.groups
        self._by_row = call.window.dilations[1] == 1 and call.groups == 1
        self.length = self.group_channels * (call.window.kernel[1] if self._by_row else 1)

    def offsets(self, padded: PaddedInput) -> Int64:
        """Elements from a window's start to each run."""
        taps = padded.tap_offsets()
        return np.ascontiguousarray(taps[:, 0] if self._by_row else taps.ravel())


class PlainConvolution:
    """Weights are packed (groups, columns, runs, run), int16."""

    def __init__(self, call: BoundConvolution) -> None:
        x, tail, runs = call.inputs[0], call.tail, _Runs(call)
        self._padded = PaddedInput(x.shape, call.window, x.zero_point)
        starts, offsets = self._padded.starts(), runs.offsets(self._padded)
        weights = call.weights.codes.astype(np.int16) - np.int16(call.weights.zero_point)
        weights = weights.reshape(len(offsets), runs.length, runs.groups, runs.columns)
        self._constants = (
            starts, offsets, runs.length, runs.groups, runs.group_channels, runs.columns,
            np.ascontiguousarray(weights.transpose(2, 3, 0, 1)).reshape(-1),
            tail.preload.astype(np.int32, copy=False), tail.multiplier, tail.shift,
            tail.low, tail.high,
        )  # fmt: skip
        self._pixels = starts.size

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        x = self._padded.fill(inputs[0])
        convolve_plain(output.dtype)(x, *self._constants, output.reshape(-1), 0, self._pixels)


class TiledConvolution:
    """Weights are packed by `hexsim.int8.panels`."""

    def __init__(self, call: BoundConvolution, algorithm: Algorithm) -> None:
        x, tail, runs = call.inputs[0], call.tail, _Runs(call)
        preload, weight_zero = tail.preload.astype(np.int32, copy=False), 0
        weights: panels.Steps
        if algorithm == "dots":
            slack = runs.length % STEP_BYTES > 0
            self._padded = PaddedInput(x.shape, call.window, x.zero_point, "uint8", slack)
            weights, weight_zero = panels.as_signed(call.weights)
            preload = panels.less_codes_zero(preload, weights, weight_zero, x.zero_point)
        else:
            self._padded = PaddedInput(x.shape, call.window, x.zero_point)
            weights = call.weights.codes.astype(np.int16) - np.int16(call.weights.zero_point)
        kind = np.dtype(self._padded.dtype)
        starts, offsets = self._padded.starts(), runs.offsets(self._padded)
        packed = panels.pack_panels(
            weights.reshape(len(offsets), runs.length, runs.groups, runs.columns)
        )
        self._constants = (
            starts, offsets * kind.itemsize, runs.length, runs.groups, runs.group_channels,
            runs.columns, packed.view(np.uint8), weight_zero,
            *(panels.pad_to_panels(one, runs.groups) for one in (preload, tail.multiplier, tail.shift)),
            int(tail.shift.any()), tail.low, tail.high,
        )  # fmt: skip
        self._pixels = starts.size
        self._tile = tile_of(kind.itemsize)

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """See PreparedCall."""
        x, tile = self._padded.fill(inputs[0]), self._tile
        convolve_tiled(x.dtype, output.dtype)(
            x, *self._constants, output.reshape(-1), 0, self._pixels, tile.rows, tile.panels,
            np.empty(tile.rows, np.int64), np.empty(BLOCK, np.int32),
            np.empty(tile.rows * tile.panels * COLUMNS, np.int32),
            np.empty(tile.rows * COLUMNS, np.uint8),
        )  # fmt: skip
