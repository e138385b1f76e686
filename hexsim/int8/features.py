"""Which kernels this machine can run."""

from __future__ import annotations

import os

from numba.core.registry import cpu_target

from hexsim.errors import HexsimError


def use_avx2() -> bool:
    """Return whether to use the AVX2 kernels: the CPU has it and HEXSIM_KERNELS does not forbid.

    HEXSIM_KERNELS=portable asks for kernels that any CPU runs; values are the same. Raises
    HexsimError for any other value.
    """
    wanted = os.environ.get("HEXSIM_KERNELS", "")
    if wanted not in ("", "portable"):
        raise HexsimError(f"HEXSIM_KERNELS is '{wanted}'; leave it out or set it to portable")
    return not wanted and "+avx2" in compiled_features()


def compiled_features() -> frozenset[str]:
    """Return the CPU features numba compiles for, each with its sign.

    These are what the CPU has, less what NUMBA_CPU_FEATURES or NUMBA_ENABLE_AVX take away.
    """
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return frozenset(features.split(","))
