"""Finds dilated depthwise filters that a file stores as large filters with many zeros.

TensorFlow writes a dilated depthwise layer as SpaceToBatch, filter, BatchToSpace. ONNX has no such
pair, so converters write a large filter with zeros between its taps.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Convolution
from hexsim.passes._rewriter import Array, Rewriter

_LEAST = 5
"""The least taps along an axis of a filter that can be dilated."""


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
    if not isinstance(layer, Convolution) or not _may_be_dilated(layer, network):
        return layer
    constant = network.constants[layer.weight]
    nonzero = np.any(constant.value() != 0, axis=(2, 3))
    dilations = (_dilation(nonzero.any(axis=1)), _dilation(nonzero.any(axis=0)))
    if dilations == (1, 1):
        return layer
    kernel = tuple(
        (size - 1) // step + 1 for size, step in zip(nonzero.shape, dilations, strict=True)
    )
    weight = rewriter.derive(layer, layer.weight, (*kernel, *constant.shape[2:]), _taps(dilations))
    window = dataclasses.replace(layer.window, kernel=kernel, dilations=dilations)
    return layer.replace(weight=weight, window=window)


def _may_be_dilated(layer: Convolution, network: Network) -> bool:
    return (
        layer.is_depthwise(network.input_shapes(layer)[0][-1])
        and layer.window.dilations == (1, 1)
        and max(layer.window.kernel) >= _LEAST
        and layer.weight in network.constants
    )


def _dilation(nonzero: Array) -> int:
    """Return the step between lines of nonzero taps, 1 if they are not evenly spaced."""
    lines = np.flatnonzero(nonzero)
    if len(lines) < 2 or lines[0] != 0 or lines[-1] != len(nonzero) - 1:
        return 1
    steps = set(np.diff(lines).tolist())
    return int(steps.pop()) if len(steps) == 1 else 1


def _taps(dilations: tuple[int, int]) -> Callable[[Array], Array]:
    vertical, horizontal = dilations
    return lambda weight: np.ascontiguousarray(weight[::vertical, ::horizontal])
