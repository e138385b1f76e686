"""Folds zero padding in a node of its own into the convolution after it."""

import dataclasses

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Convolution, Pad, Window
from hexsim.passes._rewriter import Rewriter, is_private


def fold_pad(network: Network) -> Network:
    """Let convolutions pad by themselves.

    1. A Pad that adds zeros around height and width, and whose result only one Convolution
       reads, is added to that layer's window.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        pad = _padding(layer, network)
        if pad is None or not isinstance(layer, Convolution):
            rewriter.keep(layer)
            continue
        rewriter.drop(pad)
        rewriter.keep(
            layer.replace(
                inputs=pad.inputs,
                window=_padded(layer.window, pad),
                fused=(pad.name, *layer.fused),
            )
        )
    return rewriter.finish()


def _padding(layer: Layer, network: Network) -> Pad | None:
    """Return the Pad before a convolution that its window can absorb."""
    if not isinstance(layer, Convolution):
        return None
    pad = network.producers.get(layer.inputs[0])
    if not isinstance(pad, Pad) or not is_private(network, pad.output):
        return None
    if pad.mode != "constant" or pad.value != 0:
        return None
    outer = (pad.begins[0], pad.ends[0], pad.begins[-1], pad.ends[-1])
    return None if any(outer) else pad


def _padded(window: Window, pad: Pad) -> Window:
    added = (*pad.begins[1:3], *pad.ends[1:3])
    pads = tuple(own + extra for own, extra in zip(window.pads, added, strict=True))
    top, left, bottom, right = pads
    return dataclasses.replace(window, pads=(top, left, bottom, right))
