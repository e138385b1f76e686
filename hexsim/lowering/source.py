"""The quantised network from which layers are lowered: checked operands and constants.

Weights are codes, one zero point, and a step per channel. Most kernels take the unsigned codes as
they are. Some dense convolutions of V65 and V66 multiply by signed weights
(hexsim.datasheets.chips), so an asymmetric tensor becomes signed when the network is loaded
(docs/reference/arithmetic.md): a channel is scaled down only if it does not fit. 16-bit codes are
taken as they are.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer
from hexsim.layers import Convert
from hexsim.lowering.lowered_call import CallOperands, LoweredCall, Operand, Real
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.threads import spread


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
                    "(hexsim.quantization.float_layers.with_conversions)"
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


_S8_MIN, _S8_MAX = -128, 127
_ONE = 256
"""Factor of a channel that is not scaled."""
_LOWEST, _HIGHEST = 128 * _ONE + 127, 127 * _ONE + 127
"""Largest products of factor and distance, below and above the zero point, that a shift by 8 with
rounding brings into a signed byte."""
_BLOCK = 1 << 15
"""Number of weights whose distances are in the cache at the same time."""


@dataclass(frozen=True, eq=False)
class Weights:
    """Codes (last axis the output channel), their zero point, real units per code.

    Codes are u8, u16, s8 or s16; signed ones have zero point 0.
    """

    codes: npt.NDArray[np.integer[Any]]
    zero_point: int
    steps: Real

    @property
    def bits(self) -> int:
        """Return the width of the codes that a kernel reads, 8 or 16."""
        return 8 * self.codes.dtype.itemsize


def lower_weights(name: str, layer: Layer, source: QuantizedSource) -> Weights:
    """Return the weights `name` of `layer`; raises HexsimError if no kernel takes them."""
    encoding = source.model.parameters.get(name)
    widest = source.widest_weights
    if encoding is None or encoding.bitwidth > widest:
        description = "no encoding" if encoding is None else f"{encoding.bitwidth}-bit codes"
        raise HexsimError(
            f"layer '{layer.name}': weight '{name}' has {description}; "
            f"quantise weights to {widest} bits or fewer"
        )
    codes = source.model.codes(name).astype(encoding.dtype, copy=False)
    channels = codes.shape[-1]
    if isinstance(encoding, AxisEncoding):
        return Weights(codes, 0, encoding.deltas)
    if encoding.symmetric:
        return Weights(codes, 0, np.full(channels, encoding.delta))
    if layer.name in source.signed and becomes_signed(encoding):
        return signed_weights(codes, encoding)
    steps = np.full(channels, encoding.delta)
    return Weights(codes, encoding.zero_point, steps)


def becomes_signed(encoding: Encoding | AxisEncoding) -> bool:
    """Return whether kernels with signed weights change codes of this encoding to signed ones."""
    return isinstance(encoding, Encoding) and not encoding.symmetric and encoding.bitwidth <= 8


def signed_weights(codes: npt.NDArray[np.integer], encoding: Encoding) -> Weights:
    """Return asymmetric codes as signed ones, channel by channel."""
    rows = codes.reshape(-1, codes.shape[-1])
    zero_point = encoding.zero_point
    below = zero_point - rows.min(axis=0).astype(np.int32)
    above = rows.max(axis=0).astype(np.int32) - zero_point
    factors = np.full(below.shape, _ONE, np.int32)
    if zero_point >= _S8_MAX + 3:
        factors = np.where(below > 1 - _S8_MIN, _LOWEST // np.maximum(below, 1), factors)
    elif zero_point <= _S8_MAX - 1:
        factors = np.where(above > 1 + _S8_MAX, _HIGHEST // np.maximum(above, 1), factors)
    signed = np.empty(rows.shape, np.int8)

    def make_signed(part: slice) -> None:
        scaled = ((rows[part].astype(np.int32) - zero_point) * factors + _ONE // 2) >> 8
        signed[part] = scaled.clip(_S8_MIN, _S8_MAX)

    spread(make_signed, len(rows), max(1, _BLOCK // factors.size))
    return Weights(signed.reshape(codes.shape), 0, encoding.delta * (_ONE / factors))
