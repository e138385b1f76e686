"""Folds scales and shifts per channel into the layer before them."""

from __future__ import annotations

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import NO_CLAMP, BatchNorm, Elementwise, Filtering, Weighted
from hexsim.passes._rewriter import Array, Rewriter, absorbed


def fold_batch_norm(network: Network) -> Network:
    """Fold what scales and shifts channels into the weights and bias before it.

    1. A BatchNorm whose input only it reads goes into the Convolution, Deconvolution,
       FullyConnected or BatchNorm that writes it: weights are scaled, the bias is scaled and
       shifted.
    2. So do a sum, a product and a difference of that input and a constant that is one number
       or one number per channel.
    3. Of what it writes the layer then knows the moments that the BatchNorm knew; a sum, product
       or difference moves those that it knows.
    4. A layer that already ends in a clamp takes nothing more.

    No weight is read: the new constants are computed when first needed, in single.
    """
    rewriter = Rewriter(network)
    for layer in network.layers:
        affine = _affine(layer, rewriter)
        before = rewriter.private_producer(affine.data) if affine else None
        if affine and isinstance(before, Weighted) and _takes(before):
            rewriter.keep(_into_weights(before, layer, affine, rewriter))
        elif affine and isinstance(before, BatchNorm) and _takes(before):
            rewriter.keep(_into_batch_norm(before, layer, affine, rewriter))
        else:
            rewriter.keep(layer)
    return rewriter.finish()


class _Affine:
    """scale * data + shift: the names of two constants, either of which may be absent."""

    def __init__(self, data: str, scale: Constant | None, shift: Constant | None) -> None:
        self.data = data
        self._scale = scale
        self._shift = shift

    @property
    def scales(self) -> bool:
        """True unless it only shifts."""
        return self._scale is not None

    @property
    def shifts(self) -> bool:
        """True unless it only scales."""
        return self._shift is not None

    def on_weight(self, weight: Array) -> Array:
        """The weights, or scale, before it, with it."""
        return weight if self._scale is None else weight * self._scale.value().reshape(-1)

    def on_bias(self, bias: Array) -> Array:
        """The bias, or shift, before it, with it."""
        scaled = self.on_weight(bias)
        return scaled if self._shift is None else scaled + self._shift.value().reshape(-1)

    def on_moments(self, moments: Array) -> Array:
        """The moments, (2, channels), of the values with it."""
        return np.stack([self.on_bias(moments[0]), np.abs(self.on_weight(moments[1]))])


def _affine(layer: Layer, rewriter: Rewriter) -> _Affine | None:
    """Return what `layer` does to its channels, if that is all it does."""
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


def _takes(layer: Weighted | BatchNorm) -> bool:
    return layer.clamp == NO_CLAMP


def _into_weights(before: Weighted, layer: Layer, affine: _Affine, rewriter: Rewriter) -> Layer:
    changes = absorbed(before, layer)
    if affine.scales:
        shape = rewriter.constant(before.weight).shape
        changes["weight"] = rewriter.derive(before, before.weight, shape, affine.on_weight)
    channels = (before.output_channels,)
    if before.bias is not None:
        changes["bias"] = rewriter.derive(before, before.bias, channels, affine.on_bias)
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
        scale=rewriter.derive(before, before.scale, channels, affine.on_weight),
        shift=rewriter.derive(before, before.shift, channels, affine.on_bias),
        moments=_moments(before, layer, affine, rewriter),
    )


def _moments(
    before: Filtering | BatchNorm, layer: Layer, affine: _Affine, rewriter: Rewriter
) -> str | None:
    """Name the moments of what `layer` wrote."""
    if isinstance(layer, BatchNorm):
        return layer.moments
    if before.moments is None:
        return None
    shape = rewriter.constant(before.moments).shape
    return rewriter.derive(before, before.moments, shape, affine.on_moments)
