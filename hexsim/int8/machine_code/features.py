"""The CPU features for which kernels are compiled, and the algorithms for products."""

import os
from functools import cache
from typing import Literal, get_args

from numba.core.registry import cpu_target

from hexsim.errors import HexsimError


def compiled_features() -> frozenset[str]:
    """Return the CPU features numba compiles for, each with its sign.

    These are the features of the CPU without those that NUMBA_CPU_FEATURES or NUMBA_ENABLE_AVX
    exclude.
    """
    return frozenset(compiled_for()[2].split(","))


@cache
def compiled_for() -> tuple[str, str, str]:
    """Return the platform, the CPU and the features numba compiles for; LLVM is asked once."""
    platform, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    return platform, cpu, features


def has_vectors() -> bool:
    """Return whether there are registers of 32 bytes and integer arithmetic in them."""
    return "+avx2" in compiled_features()


def has_dots() -> bool:
    """Return whether the CPU multiplies bytes four at a time."""
    features = compiled_features()
    return "+avxvnni" in features or {"+avx512vnni", "+avx512vl"} <= features


def has_wide_dots() -> bool:
    """Return whether it does so in registers of 64 bytes, and packs bytes in them."""
    return {"+avx512vnni", "+avx512vl", "+avx512bw"} <= compiled_features()


def has_byte_permutes() -> bool:
    """Return whether one instruction looks up bytes among 128 (AVX-512 VBMI)."""
    return "+avx512vbmi" in compiled_features()


def has_fused_floats() -> bool:
    """Return whether floats are multiplied and added with one rounding, in vectors."""
    return {"+avx2", "+fma"} <= compiled_features()


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
