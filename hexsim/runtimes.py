"""The runtimes a network can be asked to run on, by the names of the SNPE tools."""

from __future__ import annotations

from typing import Literal, get_args

Runtime = Literal["cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp", "aip"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)

FIXED_POINT: frozenset[Runtime] = frozenset({"fxp_cpu", "dsp", "aip"})
"""Runtimes that compute in integers and therefore need encodings."""
