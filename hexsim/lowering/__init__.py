"""Lowering: turns the layers of a fixed-point subnet into integer kernel calls.

This is the source of truth for the arithmetic: every constant that an integer kernel uses is
computed here, from encodings and weights; docs/reference/arithmetic.md states the rules. Each layer
family has one file, which says what its kernel computes; the table LOWERINGS of the file names the
layer types. hexsim.int8 decides which kernel computes a call, and how fast. Activations and weights
have codes (quantised values) of 8 or 16 bits; wider ones are refused.
"""

from collections.abc import Iterator

from hexsim.datasheets.chips import SignedKernels
from hexsim.discovery import joined
from hexsim.errors import HexsimError
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Lowerings, QuantizedSource, Weights
from hexsim.planning.kernel_forms import signed_layers
from hexsim.planning.plan import PlannedSubnet
from hexsim.quantization.model import Model

__all__ = ["LOWERINGS", "LoweredCall", "Operand", "Requantize", "Weights", "lower"]

LOWERINGS: Lowerings = joined(__name__, "LOWERINGS")


def lower(
    subnet: PlannedSubnet, model: Model, *, signed_kernels: SignedKernels | None = None
) -> Iterator[LoweredCall]:
    """Yield the calls of `subnet` as integers, in execution order.

    A call is made when it is requested, so that weights need not be in memory all at once.
    `signed_kernels` are the kernels of the chip that multiply by signed weights: asymmetric weights
    of the layers that they compute become signed. Raises HexsimError naming the layer and the
    tensor that has no usable encoding.
    """
    signed = signed_layers(subnet, signed_kernels)
    bytes_only = subnet.runtime == "htp" or (signed_kernels is not None and subnet.engine != "hta")
    source = QuantizedSource(
        model, signed, widest_weights=8 if bytes_only else 16, own_functions=subnet.runtime != "htp"
    )
    for layer in subnet.layers:
        if type(layer) not in LOWERINGS:
            raise HexsimError(f"layer '{layer.name}' ({layer.type}) has no integer kernel")
        yield LOWERINGS[type(layer)](layer, source)
