"""Changes of a network that may make it faster, each made on a copy of the model.

A change keeps the names of layers, inputs and outputs, so that the encodings of a quantised model
still apply. Those of channels have a file of their own (`channels`).

Single layers in another form: a fully connected layer becomes a 1x1 convolution, with the same
values. Activations become Relu or their hard forms, which needs retraining; Relu6 is not tried,
since a layer absorbs it as it absorbs Relu, at the same cost.

Axes in another order, so that permutes vanish: a permute is exchanged with the layers before or
after it, until it meets another one or, going back, an input of the network, which is then stored
in the other order. A reduction along height or width is a pooling with a window as large as the
image. Both keep the values. Left out: axes of a concat or a softmax that remain between other
layers, and channels of layers that a concat or a split joins.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network, Tensor
from hexsim.layers import (
    RELU,
    Clamp,
    Concat,
    Convert,
    Convolution,
    Elementwise,
    FullyConnected,
    Neuron,
    Opaque,
    Permute,
    Pooling,
    Reduce,
    Reshape,
    Softmax,
    StridedSlice,
    Window,
)
from hexsim.passes._rewriter import is_private, names_of
from hexsim.passes.functions import fuse_clamps
from hexsim.passes.rearrangements import (
    find_rearrangements,
    is_no_op,
    remove_dead_code,
    remove_no_ops,
)
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.model import Model
from hexsim.records import dataclass, replace
from hexsim.texts.text import new_name


@dataclass(frozen=True)
class Change:
    """A way to change a network; `make` returns the changed copy, None if it does not apply.

    With `same_answers` the values stay, otherwise the network needs retraining. `remark` says why
    it may help. With `order_alone` layers keep their types, and only their axes change places.
    """

    name: str
    make: Callable[[Network], Network | None]
    same_answers: bool = False
    remark: str = ""
    order_alone: bool = False


def changed_layers(before: Network, after: Network) -> tuple[str, ...]:
    """Return the names of the layers of `before` that `after` lacks or has in another way.

    That is another type or function, other channels, or operands of another shape.
    """
    old, new = (
        {
            layer.name: (
                type(layer),
                getattr(layer, "function", None),
                getattr(layer, "output_channels", None),
                network.input_shapes(layer),
            )
            for layer in network.layers
        }
        for network in (before, after)
    )
    return tuple(name for name in old if new.get(name) != old[name])


def changed_inputs(before: Network, after: Network) -> str:
    """Return in words which inputs `after` stores in another order of their axes, and how."""
    moved = (name for name in before.inputs if after.tensors[name] != before.tensors[name])
    texts = (f"input '{name}' stored as {'x'.join(map(str, after.shape(name)))}" for name in moved)
    return ", ".join(texts)


def changed_model(model: Model, network: Network) -> Model:
    """Return the model with a changed copy of its network.

    A tensor that remains keeps its encoding. A new tensor or weight of a layer has that of the
    layer before the change, for as many channels as it has; what moves codes has that of its input.
    """
    layers = {layer.name: layer for layer in model.network.layers}
    read, sources = dict[str, str](), dict[str, str]()
    for layer in network.layers:
        if (before := layers.get(layer.name)) is not None:
            sources |= zip(layer.outputs, before.outputs, strict=True)
            sources |= zip(layer.parameters, before.parameters, strict=True)
            read |= zip(layer.inputs, before.inputs, strict=True)
    sources = read | sources
    for layer in network.layers:
        if layer.moves_codes:
            for output in layer.outputs:
                sources.setdefault(output, sources.get(layer.inputs[0], layer.inputs[0]))

    def entries(of: Mapping[str, Any]) -> dict[str, Any]:
        names = (*network.tensors, *network.constants)
        before = {name: name if name in of else sources.get(name, name) for name in names}
        return {
            name: _of_channels(of[source], network.shape(name))
            for name, source in before.items()
            if source in of
        }

    return replace(
        model,
        network=network,
        activations=entries(model.activations),
        parameters=entries(model.parameters),
        floats=entries(model.floats),
        hta=(),
    )


def kept(count: int, of: int) -> Any:
    """Return which `count` channels `of` as many are taken; the first ones again if more."""
    return np.arange(count) % of


def _of_channels(encoding: Any, shape: tuple[int, ...]) -> Any:
    """Return the entry of a tensor of another shape; only encodings per channel differ."""
    if not isinstance(encoding, AxisEncoding):
        return encoding
    channels = encoding.channels
    return AxisEncoding(tuple(channels[index] for index in kept(shape[-1], len(channels))))


def as_convolutions(network: Network) -> Network | None:
    """Return the network with each fully connected layer as a 1x1 convolution.

    1. What the layer reads is reshaped to a single pixel, unless it is one.
    2. The pixel that the convolution writes is reshaped to the output of the layer. The next fully
       connected layer reads the pixel itself.
    """
    pixels = dict[str, str]()
    layers, tensors, constants = list[Layer](), list[Tensor](), list[Constant]()
    for layer in network.layers:
        if not isinstance(layer, FullyConnected):
            layers.append(layer)
            continue
        source, written = layer.inputs[0], network.tensors[layer.output]
        batch, *sizes = network.shape(source)
        shape = (batch, 1, 1, math.prod(sizes))
        if source not in pixels and network.shape(source) != shape:
            name = pixels[source] = f"{layer.name}.pixel_in"
            tensors.append(Tensor(name, shape, dtype=network.tensors[source].dtype))
            layers.append(Reshape(name=name, inputs=(source,), outputs=(name,), shape=shape))
        weight, channels = network.constants[layer.weight], layer.output_channels
        window = weight.derive((*shape[1:], channels), lambda same: same, f"{layer.name}.window")
        constants.append(window)
        pixel = f"{layer.name}.pixel"
        tensors.append(Tensor(pixel, (batch, 1, 1, channels), dtype=written.dtype))
        convolution = Convolution(
            name=layer.name,
            inputs=(pixels.get(source, source),),
            outputs=(pixel,),
            fused=layer.fused,
            weight=window.name,
            bias=layer.bias,
            window=Window((1, 1)),
            clamp=layer.clamp,
            output_channels=channels,
        )
        back = Reshape(name=pixel, inputs=(pixel,), outputs=layer.outputs, shape=written.shape)
        layers += [convolution, back]
        pixels[layer.output] = pixel
    return remove_dead_code(network.with_layers(layers, tensors, constants)) if constants else None


def with_functions(others: Mapping[str, Mapping[str, Any]], network: Network) -> Network | None:
    """Return the network with activations replaced, but for those that write outputs.

    `others` has the changed fields by function. A new clamp is fused into the layer before it.
    """
    layers = tuple(
        layer.replace(**others.get(layer.function, {}))
        if isinstance(layer, Neuron) and layer.output not in network.outputs
        else layer
        for layer in network.layers
    )
    return None if layers == network.layers else fuse_clamps(network.with_layers(layers))


_SMOOTH = ("silu", "hard_swish", "mish", "gelu", "gelu_tanh", "softplus", "elu", "leaky_relu")
_RELUS = {function: {"function": "clamp", "clamp": RELU} for function in _SMOOTH}
_HARD: Mapping[str, Mapping[str, Any]] = {
    "silu": {"function": "hard_swish"},
    "sigmoid": {"function": "hard_sigmoid", "alpha": 1 / 6, "beta": 0.5},
    "tanh": {"function": "clamp", "clamp": Clamp(-1.0, 1.0)},
}
LAYERS_CHANGES = (
    Change("fully connected as 1x1 convolution", as_convolutions, same_answers=True),
    Change("activations as Relu", partial(with_functions, _RELUS)),
    Change("activations as hard forms", partial(with_functions, _HARD)),
)


Order = tuple[int, ...]
"""New axis i is the old axis order[i]."""
Step = Callable[[Network, Permute], Network | None]
"""Exchanges a permute with a neighbour; None if that is not possible."""


def as_poolings(network: Network) -> Network | None:
    """Return the network with means and maxima along height, width or both as poolings."""
    layers = [_pooling(layer, network) or layer for layer in network.layers]
    return network.with_layers(layers) if layers != list(network.layers) else None


def _pooling(layer: Layer, network: Network) -> Pooling | None:
    shape = network.shape(layer.inputs[0]) if layer.inputs else ()
    if not isinstance(layer, Reduce) or len(shape) != 4 or not set(layer.axes) <= {1, 2}:
        return None
    if layer.kind not in ("mean", "max"):
        return None
    height, width = (shape[axis] if axis in layer.axes else 1 for axis in (1, 2))
    return Pooling(
        name=layer.name,
        inputs=layer.inputs,
        outputs=layer.outputs,
        fused=layer.fused,
        kind="average" if layer.kind == "mean" else "max",
        window=Window((height, width)),
    )


def moved_forward(network: Network) -> Network | None:
    """Return the network with each permute after the layers that follow it, if fewer remain."""
    return _moved(network, _past_reader)


def moved_back(network: Network) -> Network | None:
    """Return the network with each permute before the layers that it follows, if fewer remain."""
    return _moved(network, _past_writer)


def _moved(network: Network, step: Step) -> Network | None:
    """Move each permute as far as possible, and keep the copy that moves fewest elements.

    A step that leaves more to move is kept only if later ones make up for it.
    """
    best = network
    for name in _permutes(network):
        current, waiting, joins = best, [name], False
        while waiting:
            permute = _permutes(current).get(waiting.pop())
            following = step(current, permute) if permute else None
            if permute is None or following is None:
                continue
            after = _permutes(following)
            # Those that take its place are followed as well.
            added = [permute.name] * (permute.name in after)
            added = added or sorted(after.keys() - _permutes(current).keys())
            waiting += added
            current = following
            # The passes read the whole network: they are left out where they have nothing to join.
            joins = joins or not added or any(_joins(after[new], current) for new in added)
            if joins or _moves(current) < _moves(best):
                clean = _joined(current)
                best = clean if _moves(clean) < _moves(best) else best
    return best if best is not network else None


def _joined(network: Network) -> Network:
    """Return the network with permutes joined where that makes them fewer or simpler."""
    simple = remove_no_ops(network)
    joined = find_rearrangements(simple)
    return remove_dead_code(simple if joined is simple else remove_no_ops(joined))


def _joins(permute: Permute, network: Network) -> bool:
    """Return whether the permute has no effect, or has a permute or a reshape beside it."""
    writer = network.producers.get(permute.inputs[0])
    beside = (writer, *network.consumers.get(permute.output, ()))
    return is_no_op(permute, network) or any(isinstance(it, Permute | Reshape) for it in beside)


def _permutes(network: Network) -> dict[str, Permute]:
    return {layer.name: layer for layer in network.layers if isinstance(layer, Permute)}


def _moves(network: Network) -> int:
    """Return the number of elements that permutes move."""
    permutes = _permutes(network).values()
    return sum(network.tensors[permute.output].elements for permute in permutes)


def _past_reader(network: Network, permute: Permute) -> Network | None:
    """Put the permute after the only layer that reads it; its other operands are permuted back."""
    if not is_private(network, permute.output):
        return None
    (reader,) = network.consumers[permute.output]
    back = tuple(int(axis) for axis in np.argsort(permute.permutation))
    return _exchanged(network, permute, reader, back, permute.permutation)


def _past_writer(network: Network, permute: Permute) -> Network | None:
    """Put the permute before the layer that writes what it reads, or into the network's input."""
    source = permute.inputs[0]
    if source in network.inputs:
        return _stored_otherwise(network, permute)
    writer = network.producers.get(source)
    if writer is None or not is_private(network, source):
        return None
    return _exchanged(network, permute, writer, permute.permutation, None)


def _stored_otherwise(network: Network, permute: Permute) -> Network | None:
    """Store an input of the network as the permute leaves it, if nothing else reads it."""
    source = permute.inputs[0]
    tensor = network.tensors[source]
    special = {*network.input_formats, *network.states}
    read_elsewhere = len(network.consumers[source]) > 1 or permute.output in network.outputs
    if read_elsewhere or source in special or tensor.varies:
        return None
    stored = _reordered(tensor, source, permute.permutation)
    layers = [
        layer.replace(inputs=tuple(source if n == permute.output else n for n in layer.inputs))
        for layer in network.layers
        if layer is not permute
    ]
    return network.with_layers(layers, [stored])


def _exchanged(
    network: Network, permute: Permute, other: Layer, order: Order, after: Order | None
) -> Network | None:
    """Return the network with `other` working on axes in `order`.

    With `after` the layer reads the permute, which follows it then. Otherwise the permute read the
    layer and vanishes. Each other operand of the layer is permuted before it.
    """
    moved = _in_order(other, network, order)
    if moved is None:
        return None
    names = names_of(network)
    layers, tensors, constants = list[Layer](), list[Tensor](), list[Constant]()
    renamed = {permute.output: permute.inputs[0]} if after is not None else {}
    for name in dict.fromkeys(other.inputs):
        if name in renamed or _is_single(name, network):
            continue
        label = renamed[name] = new_name(names, f"{other.name}.{name}")
        if (constant := network.constants.get(name)) is not None:
            shape = tuple(constant.shape[axis] for axis in order)
            constants.append(constant.derive(shape, lambda a: a.transpose(order), label))
        else:
            tensors.append(_reordered(network.tensors[name], label, order))
            layers.append(Permute(name=label, inputs=(name,), outputs=(label,), permutation=order))
    inputs = tuple(renamed.get(name, name) for name in other.inputs)
    if after is None:
        layers.append(moved.replace(inputs=inputs, outputs=permute.outputs))
    else:
        label, result = new_name(names, f"{other.name}.moved"), network.tensors[other.output]
        tensors.append(_reordered(result, label, order))
        layers.append(moved.replace(inputs=inputs, outputs=(label,)))
        layers.append(permute.replace(inputs=(label,), outputs=other.outputs))
    kept = [
        new
        for layer in network.layers
        if layer is not permute
        for new in (layers if layer is other else [layer])
    ]
    return network.with_layers(kept, tensors, constants)


def _reordered(tensor: Tensor, name: str, order: Order) -> Tensor:
    """Return a tensor of the same source with its stored axes in `order`."""
    shape, sources = (
        tuple(values[axis] for axis in order) for values in (tensor.shape, tensor.order)
    )
    return Tensor(name, shape, sources, dtype=tensor.dtype)


def _in_order(layer: Layer, network: Network, order: Order) -> Layer | None:
    """Return a layer for operands with their axes in `order`; None if it depends on their order."""
    if len(layer.outputs) != 1:
        return None
    shape = network.shape(layer.output)
    full = [len(network.shape(name)) == len(order) for name in layer.inputs]
    single = [_is_single(name, network) for name in layer.inputs]
    if len(shape) != len(order) or not all(a or b for a, b in zip(full, single, strict=True)):
        return None
    match layer:
        case Neuron() | Elementwise() | Convert():
            return layer
        case Opaque(type="Cast"):
            return layer.replace(shapes=(tuple(shape[axis] for axis in order),))
        case Concat():
            return layer.replace(axis=order.index(layer.axis))
        case Reduce():
            return layer.replace(axes=_axes(layer.axes, order))
        case StridedSlice():
            parts = (replace(part, axis=order.index(part.axis)) for part in layer.parts)
            return layer.replace(parts=tuple(sorted(parts, key=lambda part: part.axis)))
        case Softmax() if max(axes := _axes(layer.axes, order)) == len(order) - 1:
            return layer.replace(axes=axes)
    return None


def _is_single(name: str, network: Network) -> bool:
    return name in network.constants and network.constants[name].elements == 1


def _axes(axes: Sequence[int], order: Order) -> tuple[int, ...]:
    return tuple(sorted(order.index(axis) for axis in axes))


AXES_CHANGES = (
    Change("reductions over pixels as poolings", as_poolings, same_answers=True),
    Change("transposes moved on", moved_forward, same_answers=True, order_alone=True),
    Change("transposes moved back", moved_back, same_answers=True, order_alone=True),
)
FIXED = (*LAYERS_CHANGES, *AXES_CHANGES)
"""The changes that any engine may profit from."""
