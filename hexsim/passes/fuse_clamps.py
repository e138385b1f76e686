"""Fuses Relu, Relu6 and Clip into the layer before them."""

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Clamp, Neuron
from hexsim.passes._rewriter import Rewriter, absorbed


def fuse_clamps(network: Network) -> Network:
    """Let layers end in the clamp that follows them.

    1. A clamp that is the only reader of its input is fused into the layer that writes it, if that
       layer can end in a clamp or is one; it keeps its name and writes the output of the clamp.
    2. Several consecutive clamps may be fused into one layer.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        before = clamp = None
        if isinstance(layer, Neuron) and layer.function == "clamp":
            before = rewriter.private_producer(layer.inputs[0])
            clamp = _last_clamp(before)
        if before is None or clamp is None:
            rewriter.keep(layer)
            continue
        assert isinstance(layer, Neuron)
        rewriter.keep(before.replace(**absorbed(before, layer), clamp=clamp.then(layer.clamp)))
    return rewriter.finish()


def _last_clamp(layer: Layer | None) -> Clamp | None:
    """Return the clamp in which a layer ends; None if it cannot end in one."""
    if isinstance(layer, Neuron) and layer.function != "clamp":
        return None
    return getattr(layer, "clamp", None)
