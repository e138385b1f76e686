"""Binding: the kernel calls of a fixed-point subnet as integers.

This is the source of truth for the arithmetic: every constant an integer kernel uses is computed
here, from encodings and weights, and docs/arithmetic.md states the rules. One file per layer
family says what its kernel computes; who computes it, and how fast, is the business of
hexsim.int8. Activations and weights are 8 or 16 bit; wider ones are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.binding.batch_norm import BoundBatchNorm, bind_batch_norm
from hexsim.binding.call import BoundCall, Operand
from hexsim.binding.colour_conversion import (
    BoundChannelPick,
    BoundNv21,
    bind_colour_conversion,
)
from hexsim.binding.concat import BoundConcat, bind_concat
from hexsim.binding.convert import bind_convert
from hexsim.binding.convolution import BoundConvolution, bind_convolution
from hexsim.binding.deconvolution import BoundDeconvolution, bind_deconvolution
from hexsim.binding.elementwise import BoundExtremum, BoundProduct, BoundSum, bind_elementwise
from hexsim.binding.fully_connected import BoundFullyConnected, bind_fully_connected
from hexsim.binding.local_response_norm import BoundLocalResponseNorm, bind_local_response_norm
from hexsim.binding.lookup import BoundLookup, bind_neuron, bind_prelu
from hexsim.binding.pad import BoundPad, bind_pad
from hexsim.binding.pooling import BoundAveragePool, BoundMaxPool, bind_pooling
from hexsim.binding.rearrange import BoundRearrange, bind_rearrange
from hexsim.binding.requantise import Requantise
from hexsim.binding.resize import BoundBilinear, BoundNearest, bind_resize
from hexsim.binding.softmax import BoundSoftmax, bind_softmax
from hexsim.binding.source import Source
from hexsim.binding.strided_slice import BoundSlice, bind_slice
from hexsim.binding.weights import Weights
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.layers import (
    BatchNorm,
    ChannelShuffle,
    ColourConversion,
    Concat,
    Convert,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    Neuron,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Reshape,
    Resize,
    Softmax,
    StridedSlice,
)
from hexsim.planning.plan import PlannedSubnet
from hexsim.quantization.quantized import QuantizedNetwork

__all__ = [
    "BoundAveragePool",
    "BoundBatchNorm",
    "BoundBilinear",
    "BoundCall",
    "BoundChannelPick",
    "BoundConcat",
    "BoundConvolution",
    "BoundDeconvolution",
    "BoundExtremum",
    "BoundFullyConnected",
    "BoundLocalResponseNorm",
    "BoundLookup",
    "BoundMaxPool",
    "BoundNearest",
    "BoundNv21",
    "BoundPad",
    "BoundProduct",
    "BoundRearrange",
    "BoundSlice",
    "BoundSoftmax",
    "BoundSum",
    "Operand",
    "Requantise",
    "Weights",
    "bind",
]


def bind(
    subnet: PlannedSubnet, model: QuantizedNetwork, *, signed_weights: bool
) -> Iterator[BoundCall]:
    """Yield the calls of `subnet` as integers, in execution order.

    Each is made when it is asked for, so that weights need not be in memory all at once.
    `signed_weights` says that the kernels multiply by signed weights (V65 and later), so that
    asymmetric weights are rescaled per output channel. Raises HexsimError naming the layer and
    the tensor that has no usable encoding.
    """
    source = Source(model, signed_weights)
    for layer in subnet.layers:
        yield _bind_layer(layer, source)


def _bind_layer(layer: Layer, source: Source) -> BoundCall:
    match layer:
        case Convolution():
            return bind_convolution(layer, source)
        case Deconvolution():
            return bind_deconvolution(layer, source)
        case FullyConnected():
            return bind_fully_connected(layer, source)
        case Pooling():
            return bind_pooling(layer, source)
        case Resize():
            return bind_resize(layer, source)
        case Elementwise():
            return bind_elementwise(layer, source)
        case Concat():
            return bind_concat(layer, source)
        case Reshape() | Permute() | ChannelShuffle():
            return bind_rearrange(layer, source)
        case Convert():
            return bind_convert(layer, source)
        case Pad():
            return bind_pad(layer, source)
        case StridedSlice():
            return bind_slice(layer, source)
        case ColourConversion():
            return bind_colour_conversion(layer, source)
        case Neuron():
            return bind_neuron(layer, source)
        case Prelu():
            return bind_prelu(layer, source)
        case BatchNorm():
            return bind_batch_norm(layer, source)
        case LocalResponseNorm():
            return bind_local_response_norm(layer, source)
        case Softmax():
            return bind_softmax(layer, source)
        case _:
            raise HexsimError(f"layer '{layer.name}' ({layer.type}) has no integer kernel")
