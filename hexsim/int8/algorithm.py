"""The algorithms for products by name, and the one that the user asks for."""

import os
from typing import Literal, get_args

from hexsim.errors import HexsimError
from hexsim.int8.machine_code.features import has_vectors

Name = Literal["portable", "pairs", "guarded", "dots", "winograd"]
"""portable: plain loops for any CPU. pairs: int16 products, two to a step (AVX2). guarded: u8 by s8
products, packed against saturation (AVX2). dots: u8 by s8 products, four to a step (VNNI).
winograd: int16 products of transformed tiles of 3x3 convolutions (AVX2)."""


def use_vectors() -> bool:
    """Return whether kernels of AVX2 or better are used.

    Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    return wanted() != "portable" and has_vectors()


def wanted() -> Name | None:
    """Return the algorithm that HEXSIM_KERNELS names; raises HexsimError for an unknown name."""
    named = os.environ.get("HEXSIM_KERNELS", "")
    if not named:
        return None
    names: tuple[Name, ...] = get_args(Name)
    for name in names:
        if name == named:
            return name
    known = ", ".join(names)
    raise HexsimError(f"HEXSIM_KERNELS is '{named}'; leave it out or set it to one of {known}")
