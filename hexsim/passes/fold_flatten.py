"""Makes FullyConnected layers read an image instead of its flattened copy."""

import math

import numpy as np

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.layers import FullyConnected, Permute, Reshape
from hexsim.passes._rewriter import Array, Rewriter, is_private


def fold_flatten(network: Network) -> Network:
    """Let FullyConnected layers flatten their input; dead code removal deletes unused layers.

    1. A Reshape that keeps axis 0 and joins the rest is skipped if only FullyConnected layers
       read it.
    2. So is a Permute that keeps axis 0 and that only such a Reshape reads: the rows of the
       weight are permuted instead, lazily.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        flatten = network.producers.get(layer.inputs[0]) if layer.inputs else None
        if not isinstance(layer, FullyConnected) or not _flattens(flatten, network):
            rewriter.keep(layer)
            continue
        assert flatten is not None
        inputs, weight, fused = flatten.inputs, layer.weight, (*flatten.fused, flatten.name)
        permute = network.producers.get(flatten.inputs[0])
        if (
            isinstance(permute, Permute)
            and permute.permutation[0] == 0
            and is_private(network, permute.output)
        ):
            weight = _permuted_weight(layer, permute, rewriter)
            inputs, fused = permute.inputs, (*permute.fused, permute.name, *fused)
        rewriter.keep(layer.replace(inputs=inputs, weight=weight, fused=(*fused, *layer.fused)))
    return rewriter.finish()


def _flattens(layer: Layer | None, network: Network) -> bool:
    if not isinstance(layer, Reshape) or layer.output in network.outputs:
        return False
    shape = network.shape(layer.inputs[0])
    readers = network.consumers[layer.output]
    return (
        bool(shape)
        and layer.shape == (shape[0], math.prod(shape[1:]))
        and all(isinstance(reader, FullyConnected) for reader in readers)
    )


def _permuted_weight(layer: FullyConnected, permute: Permute, rewriter: Rewriter) -> str:
    """Return the name of the weight with its rows in the order before `permute`."""
    weight = rewriter.constant(layer.weight)
    flattened: Shape = rewriter.network.shape(permute.output)[1:]
    inverse = tuple(
        int(axis) for axis in np.argsort([axis - 1 for axis in permute.permutation[1:]])
    )

    def rows(array: Array) -> Array:
        image = array.reshape(*flattened, layer.output_channels)
        return image.transpose(*inverse, len(inverse)).reshape(weight.shape)

    return rewriter.derive(layer, layer.weight, weight.shape, rows)
