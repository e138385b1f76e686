"""3x3 convolutions by Winograd's algorithm (hexsim.int8.winograd.maps), exact in 32 bits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hexsim.int8.gemm.panels import pad_to_panels
from hexsim.int8.machine_code.inner_loops.winograd_tile import pair_tile
from hexsim.int8.panel import COLUMNS
from hexsim.int8.prepared import Out
from hexsim.int8.requantize.constants import row_stage
from hexsim.int8.step import FIRST, LAST, Scratch, Step, Work, Workspace
from hexsim.int8.winograd.maps import KERNEL, OUTPUTS, SQUARES
from hexsim.int8.winograd.panels import pack_winograd, sums_fit
from hexsim.int8.winograd.product import (
    Blocks,
    Image,
    Panels,
    Places,
    WinogradMemory,
    convolve_winograd,
    transform_tiles,
)
from hexsim.int8.winograd.transform import CHANNELS
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.products import LoweredConvolution

_BLOCK = 3
"""Tiles of the micro-kernel for which weights are read once; 2 to 8 measured alike (within 5 %)."""
_FEW_BLOCKS = 4
"""With at most this many blocks all tiles are transformed before any is multiplied: they fit a
cache (2 MB with 128 channels), and threads can share out panels. With more, each block is
transformed just before it is multiplied."""


def admits_winograd(call: LoweredConvolution) -> bool:
    """Return whether the result is exact: a dense 3x3 convolution of 8 bits, stride 1, not dilated.

    No sum of products may reach `maps.LIMIT`; transforms fit 16 bits whatever the weights.
    """
    window = call.window
    return (
        window.kernel == (KERNEL, KERNEL)
        and tuple(window.strides) == tuple(window.dilations) == (1, 1)
        and call.groups == 1
        and sums_fit(call.weights, call.inputs[0].zero_point)
    )


class WinogradConvolution:
    """A convolution whose weights are packed by `winograd.panels`; the call must admit it."""

    def __init__(self, call: LoweredConvolution) -> None:
        _, height, width, channels = call.inputs[0].shape
        batch, out_height, out_width, columns = call.output.shape
        stage, self._tile = call.stage, pair_tile()
        self._deep = -(-channels // CHANNELS) * CHANNELS
        places = _places(batch, out_height, out_width)
        self._tiles = len(places)
        self._image = Image(
            height, width, channels, self._deep, call.inputs[0].zero_point, *call.window.pads[:2],
            places,
        )  # fmt: skip
        self._output = out_height, out_width, columns
        preload = stage.preload.astype(np.int32, copy=False)
        way, multiplier = row_stage(stage)
        self._panels = Panels(
            pack_winograd(call.weights), pad_to_panels(preload, 1),
            pad_to_panels(multiplier, 1), pad_to_panels(stage.shift, 1), way, stage.low, stage.high,
        )  # fmt: skip
        self._groups = -(-columns // (COLUMNS * self._tile.panels))

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        tile, tile_elements = self._tile, SQUARES * self._deep
        block = tile.rows * min(_BLOCK, -(-self._tiles // tile.rows))
        blocks = -(-self._tiles // block)
        ready = blocks <= _FEW_BLOCKS
        codes, patch = inputs[0].reshape(-1), Scratch(tile_elements, np.uint8)
        before: list[Work] = []
        transformed: Any = Scratch(block * tile_elements, np.int16)
        if ready:
            transformed = workspace.empty(blocks * block * tile_elements, np.int16)
            arguments = (codes, self._image, patch, transformed, FIRST, LAST)
            before = [Step(transform_tiles, arguments, self._tiles)]
        memory = WinogradMemory(
            patch, transformed, Scratch(SQUARES * block * tile.panels * COLUMNS, np.int32),
            Scratch(OUTPUTS * OUTPUTS * COLUMNS, np.int32), Scratch(OUTPUTS, np.int32),
            Scratch(OUTPUTS * COLUMNS, np.uint8),
        )  # fmt: skip
        division = Blocks(int(ready), block, tile.rows, tile.panels, *self._output)
        out = output.reshape(-1)
        work = (codes, self._image, division, self._panels, out, FIRST, LAST, memory)
        grain = 1 if ready else self._groups
        kernel = convolve_winograd(output.dtype)
        return [*before, Step(kernel, work, blocks * self._groups, grain)]


def _places(batch: int, height: int, width: int) -> Places:
    """Return where each tile of the output begins."""
    every = np.mgrid[0:batch, 0:height:OUTPUTS, 0:width:OUTPUTS]
    return np.ascontiguousarray(every.reshape(3, -1).T, dtype=np.int64)
