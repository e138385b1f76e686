"""Folds scales and shifts per channel into the layer before them."""

import numpy as np

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import NO_CLAMP, BatchNorm, Elementwise, Filtering, Weighted
from hexsim.passes._rewriter import Array, Rewriter, absorbed


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
    """Return the scale and shift of `layer`, None if it does anything else."""
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
