"""Which algorithm computes a matrix product: decided here, from the weights and the CPU.

Values never depend on it. HEXSIM_KERNELS takes the choice away: the algorithm it names is used
wherever the CPU has it and the operands fit.
"""

from __future__ import annotations

import os
from typing import Literal, get_args

from hexsim.errors import HexsimError
from hexsim.int8.features import compiled_features
from hexsim.int8.self_check import dots_are_exact

Algorithm = Literal["portable", "pairs", "dots"]
"""portable: plain loops for any CPU. pairs: int16 products, two to a step (AVX2). dots: u8 by s8
products, four to a step (VNNI)."""


def choose() -> Algorithm:
    """Return the algorithm for products of u8 activations with 8-bit weights.

    Raises HexsimError if HEXSIM_KERNELS names none.
    """
    wanted = os.environ.get("HEXSIM_KERNELS", "")
    if wanted and wanted not in get_args(Algorithm):
        known = ", ".join(get_args(Algorithm))
        raise HexsimError(f"HEXSIM_KERNELS is '{wanted}'; leave it out or set it to one of {known}")
    found = compiled_features()
    if wanted == "portable" or "+avx2" not in found:
        return "portable"
    if wanted == "pairs" or not has_dots(found) or not dots_are_exact():
        return "pairs"
    return "dots"


def has_dots(found: frozenset[str]) -> bool:
    """Return whether the CPU multiplies bytes four at a time."""
    return "+avxvnni" in found or {"+avx512vnni", "+avx512vl"} <= found
