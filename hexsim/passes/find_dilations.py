"""Finds dilated depthwise filters that a file spells as large ones full of zeros.

TensorFlow writes a dilated depthwise layer as SpaceToBatch, filter, BatchToSpace; converters to
ONNX, which has no such pair, write the filter out, zeros between its taps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Convolution
from hexsim.passes._rewriter import Array, Rewriter

_LEAST = 5
"""Taps along an axis from which three can lie apart."""


def find_dilations(network: Network) -> Network:
    """Leave out taps that are zero in every channel.

    1. A depthwise Convolution without dilation, whose taps are zero but for every second, third or
       later row and column from the first one to the last, becomes one of those taps, dilated.

    Only depthwise weights are read: they are small.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        rewriter.keep(_dilated(layer, network, rewriter))
    return rewriter.finish()


def _dilated(layer: Layer, network: Network, rewriter: Rewriter) -> Layer:
    if not isinstance(layer, Convolution) or not _may_hide_one(layer, network):
        return layer
    constant = network.constants[layer.weight]
    used = np.any(constant.value() != 0, axis=(2, 3))
    apart = (_apart(used.any(axis=1)), _apart(used.any(axis=0)))
    if apart == (1, 1):
        return layer
    kernel = tuple((size - 1) // step + 1 for size, step in zip(used.shape, apart, strict=True))
    weight = rewriter.derive(layer, layer.weight, (*kernel, *constant.shape[2:]), _taps(apart))
    window = dataclasses.replace(layer.window, kernel=kernel, dilations=apart)
    return layer.replace(weight=weight, window=window)


def _may_hide_one(layer: Convolution, network: Network) -> bool:
    return (
        layer.is_depthwise(network.input_shapes(layer)[0][-1])
        and layer.window.dilations == (1, 1)
        and max(layer.window.kernel) >= _LEAST
        and layer.weight in network.constants
    )


def _apart(used: Array) -> int:
    """The step from one line of taps to the next, 1 if they do not fill the filter so."""
    lines = np.flatnonzero(used)
    if len(lines) < 2 or lines[0] != 0 or lines[-1] != len(used) - 1:
        return 1
    steps = set(np.diff(lines).tolist())
    return int(steps.pop()) if len(steps) == 1 else 1


def _taps(apart: tuple[int, int]) -> Callable[[Array], Array]:
    down, along = apart
    return lambda weight: np.ascontiguousarray(weight[::down, ::along])
