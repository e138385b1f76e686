"""Folds scales and shifts per channel into the layer before them.

Folds a scalar factor into a product of two computed matrices, as in attention layers.

Folds padding in a node of its own into the convolution, or the pooling, after it.

Makes FullyConnected layers read an image instead of its flattened copy.
"""

import dataclasses
import math

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network, Shape
from hexsim.layers import (
    NO_CLAMP,
    BatchNorm,
    Convolution,
    Elementwise,
    Filtering,
    FullyConnected,
    MatMul,
    Pad,
    Permute,
    Pooling,
    Reshape,
    Weighted,
    Window,
)
from hexsim.passes._rewriter import Array, Rewriter, absorbed, is_private

_LOWEST = float(np.finfo(np.float32).min)
"""TensorFlow's exports pad maxima with it, PyTorch's with minus infinity."""


def fold_batch_norm(network: Network) -> Network:
    """Fold scales and shifts of channels into the weights and bias before them.

    1. A BatchNorm that is the only reader of its input is folded into the Convolution,
       Deconvolution, FullyConnected or BatchNorm that writes it: weights are scaled, the bias is
       scaled and shifted.
    2. So are a sum, a product and a difference of that input and a constant that is a scalar or has
       one number per channel.
    3. The layer takes the moments of the BatchNorm; a sum, product or difference changes the
       moments that it has.
    4. Nothing is folded into a layer that ends in a clamp.

    No weight is read: the new constants are computed when first used, in float32.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        affine = _affine(layer, rewriter)
        before = rewriter.private_producer(affine.data) if affine else None
        if affine and isinstance(before, Weighted) and _has_no_clamp(before):
            rewriter.keep(_into_weights(before, layer, affine, rewriter))
        elif affine and isinstance(before, BatchNorm) and _has_no_clamp(before):
            rewriter.keep(_into_batch_norm(before, layer, affine, rewriter))
        else:
            rewriter.keep(layer)
    return rewriter.finish()


class _Affine:
    """scale * data + shift, with two constants, either of which may be absent."""

    def __init__(self, data: str, scale: Constant | None, shift: Constant | None) -> None:
        self.data = data
        self.scale = scale
        self._shift = shift

    @property
    def shifts(self) -> bool:
        """Whether there is a shift."""
        return self._shift is not None

    @property
    def scale_of_bias(self) -> Constant | None:
        """The scale, unless a bias is changed by more than that."""
        return None if self.shifts else self.scale

    def on_weight(self, weight: Array) -> Array:
        """Return the weights, or scale, of the layer before with the scale applied."""
        return weight if self.scale is None else weight * self.scale.value().reshape(-1)

    def on_bias(self, bias: Array) -> Array:
        """Return the bias, or shift, of the layer before with scale and shift applied."""
        scaled = self.on_weight(bias)
        return scaled if self._shift is None else scaled + self._shift.value().reshape(-1)

    def on_moments(self, moments: Array) -> Array:
        """Return the moments, (2, channels), with scale and shift applied."""
        return np.stack([self.on_bias(moments[0]), np.abs(self.on_weight(moments[1]))])


def _affine(layer: Layer, rewriter: Rewriter) -> _Affine | None:
    if isinstance(layer, BatchNorm):
        if layer.clamp != NO_CLAMP:
            return None
        return _Affine(
            layer.inputs[0], rewriter.constant(layer.scale), rewriter.constant(layer.shift)
        )
    if not isinstance(layer, Elementwise) or len(layer.inputs) != 2 or layer.clamp != NO_CLAMP:
        return None
    network = rewriter.network
    data, *constants = sorted(layer.inputs, key=lambda name: name in network.constants)
    if not constants or data in network.constants or constants[0] not in network.constants:
        return None
    constant, shape = rewriter.constant(constants[0]), network.shape(data)
    per_channel = constant.elements == 1 or constant.shape[-1:] == (constant.elements,)
    if (
        not shape
        or not per_channel
        or constant.elements not in (1, shape[-1])
        or len(constant.shape) > len(shape)
    ):
        return None
    match layer.kind:
        case "product":
            return _Affine(data, constant, None)
        case "sum":
            return _Affine(data, None, constant)
        case "sub" if data == layer.inputs[0]:
            return _Affine(data, None, constant.derive(constant.shape, np.negative))
        case _:
            return None


def _has_no_clamp(layer: Weighted | BatchNorm) -> bool:
    return layer.clamp == NO_CLAMP


def _into_weights(before: Weighted, layer: Layer, affine: _Affine, rewriter: Rewriter) -> Layer:
    changes = absorbed(before, layer)
    if affine.scale is not None:
        shape = rewriter.constant(before.weight).shape
        changes["weight"] = rewriter.derive(
            before, before.weight, shape, affine.on_weight, affine.scale
        )
    channels = (before.output_channels,)
    if before.bias is not None:
        changes["bias"] = rewriter.derive(
            before, before.bias, channels, affine.on_bias, affine.scale_of_bias
        )
    elif affine.shifts:
        dtype = rewriter.constant(before.weight).dtype
        zeros = Constant(
            f"{before.name}.bias",
            channels,
            lambda: affine.on_bias(np.zeros(channels, dtype)),
            dtype,
        )
        changes["bias"] = rewriter.new_constant(zeros)
    if isinstance(before, Filtering):
        changes["moments"] = _moments(before, layer, affine, rewriter)
    return before.replace(**changes)


def _into_batch_norm(before: BatchNorm, layer: Layer, affine: _Affine, rewriter: Rewriter) -> Layer:
    channels = rewriter.constant(before.scale).shape
    return before.replace(
        **absorbed(before, layer),
        scale=rewriter.derive(before, before.scale, channels, affine.on_weight, affine.scale),
        shift=rewriter.derive(before, before.shift, channels, affine.on_bias, affine.scale_of_bias),
        moments=_moments(before, layer, affine, rewriter),
    )


def _moments(
    before: Filtering | BatchNorm, layer: Layer, affine: _Affine, rewriter: Rewriter
) -> str | None:
    """Return the name of the moments of the output of `layer`."""
    if isinstance(layer, BatchNorm):
        return layer.moments
    if before.moments is None:
        return None
    shape = rewriter.constant(before.moments).shape
    return rewriter.derive(before, before.moments, shape, affine.on_moments, None)


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


def fold_pad(network: Network) -> Network:
    """Let convolutions and maxima pad by themselves.

    1. A Pad around height and width, and whose result only one layer reads, is added to the window
       of that layer: zeros to a Convolution, the lowest float or less to a maximum, if each of its
       windows still has something else.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        pad = _padding(layer, network)
        if pad is None or not isinstance(layer, Convolution | Pooling):
            rewriter.keep(layer)
            continue
        rewriter.drop(pad)
        rewriter.keep(
            layer.replace(
                inputs=pad.inputs, window=_padded(layer.window, pad), fused=(pad.name, *layer.fused)
            )
        )
    return rewriter.finish()


def _padding(layer: Layer, network: Network) -> Pad | None:
    """Return the Pad before a convolution or a maximum that its window can absorb."""
    if not isinstance(layer, Convolution | Pooling):
        return None
    pad = network.producers.get(layer.inputs[0])
    if not isinstance(pad, Pad) or not is_private(network, pad.output) or pad.mode != "constant":
        return None
    if any((pad.begins[0], pad.ends[0], pad.begins[-1], pad.ends[-1])):
        return None
    if isinstance(layer, Convolution):
        return pad if pad.value == 0 else None
    window = _padded(layer.window, pad)
    _, height, width, _ = network.shape(pad.inputs[0])
    _, *size, _ = network.shape(layer.output)
    fits = all(side < length for side, length in zip(window.pads, window.kernel * 2, strict=True))
    same = fits and window.output_size(height, width) == tuple(size)
    return pad if layer.kind == "max" and pad.value <= _LOWEST and same else None


def _padded(window: Window, pad: Pad) -> Window:
    added = (*pad.begins[1:3], *pad.ends[1:3])
    pads = tuple(own + extra for own, extra in zip(window.pads, added, strict=True))
    top, left, bottom, right = pads
    return dataclasses.replace(window, pads=(top, left, bottom, right))


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
    weight = rewriter.constant(layer.weight)
    flattened: Shape = rewriter.network.shape(permute.output)[1:]
    inverse = tuple(
        int(axis) for axis in np.argsort([axis - 1 for axis in permute.permutation[1:]])
    )

    def rows(array: Array) -> Array:
        image = array.reshape(*flattened, layer.output_channels)
        return image.transpose(*inverse, len(inverse)).reshape(weight.shape)

    return rewriter.derive(layer, layer.weight, weight.shape, rows)
