"""Binding: the kernel calls of a fixed-point subnet as integers.

This is the source of truth for the arithmetic: every constant an integer kernel uses is computed
here, from encodings and weights, and docs/reference/arithmetic.md states the rules. One file per
layer family says what its kernel computes and, in its table BINDERS, of which layer types; who
computes it, and how fast, is the business of hexsim.int8. Activations and weights are 8 or 16 bit;
wider ones are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.discovery import joined
from hexsim.errors import HexsimError
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Binders, QuantizedSource
from hexsim.lowering.weights import Weights
from hexsim.planning.plan import PlannedSubnet
from hexsim.quantization.model import Model

__all__ = ["BINDERS", "LoweredCall", "Operand", "Requantize", "Weights", "lower"]

BINDERS: Binders = joined(__name__, "BINDERS")


def lower(subnet: PlannedSubnet, model: Model, *, signed_weights: bool) -> Iterator[LoweredCall]:
    """Yield the calls of `subnet` as integers, in execution order.

    Each is made when it is asked for, so that weights need not be in memory all at once.
    `signed_weights` says that the kernels multiply by signed weights (V65 and later), so that
    asymmetric weights are rescaled per output channel. Raises HexsimError naming the layer and
    the tensor that has no usable encoding.
    """
    source = QuantizedSource(model, signed_weights)
    for layer in subnet.layers:
        if type(layer) not in BINDERS:
            raise HexsimError(f"layer '{layer.name}' ({layer.type}) has no integer kernel")
        yield BINDERS[type(layer)](layer, source)
