"""Which algorithm computes a matrix product: decided here, from the weights and the CPU.

Values never depend on it. HEXSIM_KERNELS takes the choice away: the algorithm it names is used
wherever the CPU has it. The choice is one of instructions counted, not of time measured, so it is
the same in every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, get_args

from hexsim.errors import HexsimError
from hexsim.int8.features import compiled_features
from hexsim.int8.self_check import dots_are_exact

Algorithm = Literal["portable", "pairs", "guarded", "dots"]
"""portable: plain loops for any CPU. pairs: int16 products, two to a step (AVX2). guarded: u8 by s8
products, packed against saturation (AVX2). dots: u8 by s8 products, four to a step (VNNI)."""
ByName = Algorithm | Literal["winograd"]
"""winograd: int16 products of transformed tiles (AVX2), where the layer admits them exactly."""


def choose(guarded_pays: Callable[[], bool]) -> Algorithm:
    """Return the algorithm for products of u8 activations with 8-bit weights.

    `guarded_pays` tells whether the weights suit guarded packing; it is asked only if that
    matters. Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    wanted = _wanted()
    if not use_vectors():
        return "portable"
    if wanted in ("pairs", "guarded"):
        return wanted
    if has_dots(compiled_features()) and dots_are_exact():
        return "dots"
    return "guarded" if guarded_pays() else "pairs"


def use_vectors() -> bool:
    """Return whether kernels of AVX2 or better are used.

    Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    return _wanted() != "portable" and "+avx2" in compiled_features()


def wants_winograd() -> bool:
    """Return whether HEXSIM_KERNELS names Winograd's algorithm and the CPU has what it takes.

    Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    return _wanted() == "winograd" and use_vectors()


def has_dots(found: frozenset[str]) -> bool:
    """Return whether the CPU multiplies bytes four at a time."""
    return "+avxvnni" in found or {"+avx512vnni", "+avx512vl"} <= found


def _wanted() -> ByName | None:
    wanted = os.environ.get("HEXSIM_KERNELS", "")
    if not wanted:
        return None
    names = (*get_args(Algorithm), "winograd")
    if wanted not in names:
        known = ", ".join(names)
        raise HexsimError(f"HEXSIM_KERNELS is '{wanted}'; leave it out or set it to one of {known}")
    return wanted  # type: ignore[return-value]
