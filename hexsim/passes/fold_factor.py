"""Folds a scalar factor into a product of two computed matrices, as in attention layers."""

from hexsim.graph.ir import Network
from hexsim.layers import NO_CLAMP, Elementwise, MatMul
from hexsim.passes._rewriter import Rewriter, absorbed


def fold_factor(network: Network) -> Network:
    """Fold factors into the MatMul before them.

    1. A product of a tensor and a positive scalar constant, if it is the only reader, is folded
       into the factor of the MatMul that writes the tensor, unless that ends in a clamp.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        factor = before = None
        if (
            isinstance(layer, Elementwise)
            and layer.kind == "product"
            and len(layer.inputs) == 2
            and layer.clamp == NO_CLAMP
        ):
            data, constant = sorted(layer.inputs, key=lambda name: name in network.constants)
            if constant in network.constants and network.constants[constant].elements == 1:
                factor = float(network.constants[constant].value().item())
                before = rewriter.private_producer(data)
        if (
            factor is None
            or not isinstance(before, MatMul)
            or before.clamp != NO_CLAMP
            or factor <= 0
            or network.shape(before.output) != network.shape(layer.outputs[0])
        ):
            rewriter.keep(layer)
            continue
        rewriter.keep(before.replace(**absorbed(before, layer), alpha=before.alpha * factor))
    return rewriter.finish()
