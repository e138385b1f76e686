"""Writes out functions that a release of the runtime does not know as one layer."""

from collections.abc import Collection
from dataclasses import replace

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Elementwise, Neuron
from hexsim.passes._rewriter import names_of
from hexsim.texts.names import new_name

_WRITTEN_OUT = frozenset({"silu"})


def unfuse_functions(
    network: Network, kept: Collection[str], untouched: Collection[str] = ()
) -> Network:
    """Return the network with a SiLU as a sigmoid and a product, unless `kept` names the function
    or `untouched` the layer.

    The sigmoid keeps the name of the layer, the product has that of the operator which the layer
    absorbed, so that a profile has the names of the user's file. A factor inside the sigmoid other
    than 1 would need a third layer; such a SiLU stays one layer.
    """
    written_out = {
        layer.name
        for layer in network.layers
        if _is_written_out(layer, kept) and layer.name not in untouched
    }
    if not written_out:
        return network
    names = names_of(network)
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    for layer in network.layers:
        if layer.name not in written_out:
            layers.append(layer)
            continue
        assert isinstance(layer, Neuron)
        between = new_name(names, f"{layer.name}.sigmoid")
        product, *absorbed = layer.fused or (f"{layer.name}.product",)
        tensors.append(replace(network.tensors[layer.output], name=between))
        sigmoid = layer.replace(function="sigmoid", alpha=0.0, outputs=(between,), fused=())
        layers += [
            sigmoid,
            Elementwise(
                name=new_name(names, product),
                inputs=(*layer.inputs, between),
                outputs=layer.outputs,
                kind="product",
                fused=tuple(absorbed),
            ),
        ]
    return network.with_layers(layers, tensors)


def _is_written_out(layer: Layer, kept: Collection[str]) -> bool:
    return (
        isinstance(layer, Neuron)
        and layer.function in _WRITTEN_OUT
        and layer.function not in kept
        and layer.alpha == 1
    )
