"""Finds channel shuffles, which ONNX files spell as reshape, transpose, reshape."""

from __future__ import annotations

from hexsim.graph.ir import Layer, Network
from hexsim.layers import ChannelShuffle, Permute, Reshape
from hexsim.passes._rewriter import Rewriter


def find_channel_shuffles(network: Network) -> Network:
    """Replace the three layers of a shuffle by one ChannelShuffle.

    1. A Reshape that splits the last axis into groups x rest, a Permute that swaps these two and
       a Reshape that joins them again are a ChannelShuffle, if nobody else reads the tensors
       between them. It takes the name of the first.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        split, swap = _before(layer, rewriter)
        if split is None or swap is None or not isinstance(layer, Reshape):
            rewriter.keep(layer)
            continue
        *_, groups, _ = split.shape
        rewriter.drop(swap)
        rewriter.keep(
            ChannelShuffle(
                name=split.name,
                inputs=split.inputs,
                outputs=layer.outputs,
                fused=(*split.fused, swap.name, *swap.fused, layer.name, *layer.fused),
                groups=groups,
            )
        )
    return rewriter.finish()


def _before(layer: Layer, rewriter: Rewriter) -> tuple[Reshape | None, Permute | None]:
    """Return the split and the swap that make `layer` the end of a shuffle."""
    nothing = (None, None)
    swap = rewriter.private_producer(layer.inputs[0]) if isinstance(layer, Reshape) else None
    if not isinstance(layer, Reshape) or not isinstance(swap, Permute):
        return nothing
    split = rewriter.private_producer(swap.inputs[0])
    if not isinstance(split, Reshape):
        return nothing
    shape, rank = rewriter.network.shape(split.inputs[0]), len(split.shape)
    swaps = swap.permutation == (*range(rank - 2), rank - 1, rank - 2)
    splits = split.shape[:-2] == shape[:-1]
    return (split, swap) if swaps and splits and layer.shape == shape else nothing
