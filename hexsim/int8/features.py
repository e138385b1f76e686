"""Which kernels this machine can run."""

from __future__ import annotations

import os

import llvmlite.binding as llvm
from numba.core import config

from hexsim.errors import HexsimError


def use_avx2() -> bool:
    """Return whether to use the AVX2 kernels: the CPU has it and HEXSIM_KERNELS does not forbid.

    HEXSIM_KERNELS=portable asks for kernels that any CPU runs; values are the same. Numba's own
    NUMBA_CPU_FEATURES, which restricts what is compiled for, is honoured. Raises HexsimError for
    any other value of HEXSIM_KERNELS.
    """
    wanted = os.environ.get("HEXSIM_KERNELS", "")
    if wanted not in ("", "portable"):
        raise HexsimError(f"HEXSIM_KERNELS is '{wanted}'; leave it out or set it to portable")
    return not wanted and _cpu_has_avx2()


def _cpu_has_avx2() -> bool:
    if config.CPU_FEATURES is not None:
        return "+avx2" in config.CPU_FEATURES.split(",")
    try:
        return bool(llvm.get_host_cpu_features().get("avx2", False))
    except RuntimeError:  # llvmlite cannot tell on this platform
        return False
