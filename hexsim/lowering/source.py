"""The quantised network from which layers are lowered: checked operands and constants."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.layers import Convert
from hexsim.lowering.lowered_call import CallOperands, LoweredCall, Operand, Real
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class QuantizedSource:
    """A quantised network as the kernels of a chip read it.

    `signed` names the layers whose kernels multiply by signed weights, `widest_weights` is the
    number of bits of the widest weights that the kernels take. With `own_functions` 8-bit functions
    are computed as Hexagon NN does, where it has them.
    """

    model: Model
    signed: frozenset[str] = frozenset()
    widest_weights: int = 16
    own_functions: bool = True

    def operand(self, name: str, layer: Layer) -> Operand:
        """Return tensor or constant `name` as an operand of `layer`.

        Raises HexsimError if it has no encoding, or one that is not 8 or 16 bit asymmetric.
        """
        encoding = self.model.activation(name, f"layer '{layer.name}': ")
        if encoding.bitwidth not in (8, 16) or encoding.symmetric:
            kind = "symmetric" if encoding.symmetric else "asymmetric"
            raise HexsimError(
                f"layer '{layer.name}': tensor '{name}' has a {encoding.bitwidth}-bit {kind} "
                "encoding; the integer kernels take asymmetric activations of 8 or 16 bits"
            )
        network = self.model.network
        codes = None
        if name in network.constants:
            codes = self.model.codes(name).astype(encoding.dtype, copy=False)
        return Operand(name, network.shape(name), encoding, codes)

    def operands(self, layer: Layer) -> CallOperands:
        """Return the name of `layer`, its operands and its result.

        Raises HexsimError if they do not all have one width; a Convert layer changes it.
        """
        inputs = tuple(self.operand(name, layer) for name in layer.inputs)
        output = self.operand(layer.output, layer)
        for x in inputs:
            if x.bits != output.bits and not isinstance(layer, Convert):
                raise HexsimError(
                    f"layer '{layer.name}' reads '{x.name}' in {x.bits} bits and writes "
                    f"{output.bits}; insert a Convert layer "
                    "(hexsim.quantization.conversions.with_conversions)"
                )
        return CallOperands(layer.name, inputs, output)

    def is_own(self, function: str, output: Encoding) -> bool:
        """Return whether Hexagon NN has `function`, and gives this encoding to its results."""
        step, zero_point = _OWN_RANGES.get(function, (0.0, 0))
        return (
            self.own_functions
            and output.bitwidth == OWN_BITS
            and output.zero_point == zero_point
            and abs(output.delta - step) <= _SAME * step
        )

    def real(self, name: str) -> Real:
        """Return a constant's real values: those of its codes if it has an encoding, else its own.

        This is how an 8-bit bias reaches the accumulator: its codes are made real again.
        """
        return self.model.as_stored.constants[name].finite().astype(np.float64)


OWN_BITS = 8
"""Width of the codes for which Hexagon NN has integer rules of functions."""
_OWN_RANGES = {"tanh": (1 / 127, 127), "sigmoid": (1 / 255, 0), "softmax": (1 / 255, 0)}
"""Step and zero point of the output by function (Hexagon NN)."""
_SAME = 1e-6
"""Relative difference of steps up to which a range is Hexagon NN's: that of float32 in a file."""

Lowerings = Mapping[type[Layer], Callable[[Any, QuantizedSource], LoweredCall]]
"""By layer type, what turns a layer of that type into integers."""
