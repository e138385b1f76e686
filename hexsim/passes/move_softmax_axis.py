"""Makes a softmax run along the last axis, as integer engines require."""

import numpy as np

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.layers import Permute, Softmax
from hexsim.passes._rewriter import names_of
from hexsim.texts.names import new_name


def move_softmax_axis(network: Network) -> Network:
    """Put permutes around a Softmax whose axes are not the last.

    1. If axes of more than one element follow those of the sum, they are swapped with them.
    2. The layer keeps its name, and the result of the second permute keeps the name of the output.
    """
    names = names_of(network)
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    for layer in network.layers:
        if not isinstance(layer, Softmax) or _is_last(layer, network):
            layers.append(layer)
            continue
        shape = network.shape(layer.output)
        order = (
            *(axis for axis in range(len(shape)) if axis not in layer.axes),
            *sorted(layer.axes),
        )
        before, after = (new_name(names, f"{layer.name}.{suffix}") for suffix in ("last", "moved"))
        moved_shape = tuple(shape[axis] for axis in order)
        dtype = network.tensors[layer.output].dtype
        tensors += [
            Tensor(before, moved_shape, dtype=dtype),
            Tensor(after, moved_shape, dtype=dtype),
        ]
        count = len(shape) - len(layer.axes)
        layers += [
            Permute(name=before, inputs=layer.inputs, outputs=(before,), permutation=order),
            layer.replace(inputs=(before,), outputs=(after,), axes=tuple(range(count, len(shape)))),
            Permute(
                name=after,
                inputs=(after,),
                outputs=layer.outputs,
                permutation=tuple(int(axis) for axis in np.argsort(order)),
            ),
        ]
    return network.with_layers(layers, tensors)


def _is_last(layer: Softmax, network: Network) -> bool:
    shape = network.shape(layer.output)
    return all(size == 1 for size in shape[max(layer.axes) + 1 :])
