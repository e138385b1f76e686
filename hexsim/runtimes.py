"""The runtimes a network can be asked to run on, by the names of the SNPE tools."""

from __future__ import annotations

from typing import Literal, get_args

Runtime = Literal["cpu", "fxp_cpu", "gpu", "gpu_fp16", "dsp", "aip"]
RUNTIMES: tuple[Runtime, ...] = get_args(Runtime)

FIXED_POINT: frozenset[Runtime] = frozenset({"fxp_cpu", "dsp", "aip"})
"""Runtimes that compute in integers and therefore need encodings."""

SNPE_NAMES: dict[Runtime, str] = {
    "cpu": "CPU_FLOAT32",
    "fxp_cpu": "CPU_FIXED8_TF",
    "gpu": "GPU_FLOAT32_16_HYBRID",
    "gpu_fp16": "GPU_FLOAT16",
    "dsp": "DSP_FIXED8_TF",
    "aip": "AIP_FIXED8_TF",
}
"""Members of SNPE's Runtime_t."""
