"""Fuses Relu, Relu6 and Clip into the layer before them."""

from __future__ import annotations

from hexsim.graph.ir import Network
from hexsim.layers import (
    BatchNorm,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    Neuron,
)
from hexsim.passes._rewriter import Rewriter, absorbed


def fuse_clamps(network: Network) -> Network:
    """Let layers end in the clamp that follows them.

    1. A clamp whose input only it reads goes into the Convolution, Deconvolution,
       FullyConnected, Elementwise, BatchNorm or clamp that writes it; that layer keeps its name
       and writes the clamp's output.
    2. A layer may take several clamps, one after the other.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        before = None
        if isinstance(layer, Neuron) and layer.function == "clamp":
            before = rewriter.private_producer(layer.inputs[0])
        match before:
            case Convolution() | Deconvolution() | FullyConnected() | Elementwise() | BatchNorm():
                pass
            case Neuron(function="clamp"):
                pass
            case _:
                rewriter.keep(layer)
                continue
        assert isinstance(layer, Neuron)
        rewriter.keep(
            before.replace(**absorbed(before, layer), clamp=before.clamp.then(layer.clamp))
        )
    return rewriter.finish()
