"""Folds zero padding that a file writes as a node of its own into the convolution behind it."""

from __future__ import annotations

import dataclasses

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.graph.passes._rewriter import Rewriter, is_private
from hexsim.layers import Convolution, Opaque, Permute, Window
from hexsim.layers.padding import read_padding


def fold_pad(network: Network) -> Network:
    """Let convolutions pad by themselves.

    1. A Pad node that adds constant zeros around height and width, and whose result only one
       Convolution reads, is added to that layer's window; the permutes around the node, which
       undo each other, go with it.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        chain = _padding(layer, network)
        if chain is None or not isinstance(layer, Convolution):
            rewriter.keep(layer)
            continue
        first, pad, last, pads = chain
        for gone in (first, pad, last):
            if is_private(network, gone.output):
                rewriter.drop(gone)
        rewriter.keep(
            layer.replace(
                inputs=first.inputs,
                window=_padded(layer.window, pads),
                fused=(pad.name, *layer.fused),
            )
        )
    return rewriter.finish()


def _padding(
    layer: Layer, network: Network
) -> tuple[Permute, Opaque, Permute, tuple[int, int, int, int]] | None:
    """Return permute, pad and permute in front of a convolution, and what they add."""
    if not isinstance(layer, Convolution):
        return None
    last = network.producers.get(layer.inputs[0])
    pad = network.producers.get(last.inputs[0]) if isinstance(last, Permute) else None
    first = network.producers.get(pad.inputs[0]) if isinstance(pad, Opaque) else None
    if not (isinstance(last, Permute) and isinstance(pad, Opaque) and isinstance(first, Permute)):
        return None
    undone = tuple(first.permutation[axis] for axis in last.permutation) == (0, 1, 2, 3)
    only = is_private(network, last.output) and is_private(network, pad.output)
    pads = _zero_pads(pad, network) if undone and only and pad.op_type == "Pad" else None
    return (first, pad, last, pads) if pads else None


def _zero_pads(pad: Opaque, network: Network) -> tuple[int, int, int, int] | None:
    """Return (top, left, bottom, right) if that is all the node adds, and zeros."""
    found = read_padding(pad, network)
    if found is None or found.mode != "constant" or found.value != 0 or len(found.pads) != 8:
        return None
    top, left, bottom, right = (found.pads[axis] for axis in (2, 3, 6, 7))
    others = any(found.pads[axis] for axis in (0, 1, 4, 5))
    return None if others or min(top, left, bottom, right) < 0 else (top, left, bottom, right)


def _padded(window: Window, pads: Shape) -> Window:
    top, left, bottom, right = (a + b for a, b in zip(window.pads, pads, strict=True))
    return dataclasses.replace(window, pads=(top, left, bottom, right))
