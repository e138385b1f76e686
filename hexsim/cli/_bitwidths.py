"""Bit widths of `hexsim quantize`: one option for all three kinds of tensors, or one for each."""

from dataclasses import dataclass

from hexsim.errors import HexsimError, spelled

_DEFAULT = 8
_WIDE_BIAS = 32


@dataclass(frozen=True)
class BitWidths:
    """Bits of activations, weights and biases."""

    activations: int
    weights: int
    biases: int


def bit_widths(
    every: int | None, activations: int | None, weights: int | None, biases: int | None
) -> BitWidths:
    """Combine the options as given (None: not given).

    --bitwidth 16 stores biases in 32 bits, because the SNPE tools allow only biases of 8 and 32
    bits; what they do is not documented. Raises HexsimError if it is combined with the others.
    """
    given = {
        spelled("act_bitwidth"): activations,
        spelled("weights_bitwidth"): weights,
        spelled("bias_bitwidth"): biases,
    }
    if every is None:
        return BitWidths(*(_DEFAULT if bits is None else bits for bits in given.values()))
    mixed = [option for option, bits in given.items() if bits is not None]
    if mixed:
        raise HexsimError(
            f"{spelled('bitwidth')} sets the bits of activations, weights and biases, {mixed[0]} "
            "some of "
            "them; give one or the other"
        )
    if every not in (8, 16):
        raise HexsimError(f"{spelled('bitwidth')} is 8 or 16, not {every}")
    return BitWidths(every, every, _DEFAULT if every == _DEFAULT else _WIDE_BIAS)
