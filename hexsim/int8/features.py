"""What kernels are compiled for."""

from __future__ import annotations

from numba.core.registry import cpu_target


def compiled_features() -> frozenset[str]:
    """Return the CPU features numba compiles for, each with its sign.

    These are what the CPU has, less what NUMBA_CPU_FEATURES or NUMBA_ENABLE_AVX take away.
    """
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return frozenset(features.split(","))
