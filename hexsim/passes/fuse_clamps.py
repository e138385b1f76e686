"""Fuses Relu, Relu6 and Clip into the layer before them."""

from __future__ import annotations

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Clamp, Neuron
from hexsim.passes._rewriter import Rewriter, absorbed


def fuse_clamps(network: Network) -> Network:
    """Let layers end in the clamp that follows them.

    1. A clamp whose input only it reads goes into the layer that writes it, if that is of a type
       that ends in a clamp, or one itself; that layer keeps its name and writes the clamp's output.
    2. A layer may take several clamps, one after the other.
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
    """The clamp in which a layer ends; None if it cannot end in one."""
    if isinstance(layer, Neuron) and layer.function != "clamp":
        return None
    return getattr(layer, "clamp", None)
