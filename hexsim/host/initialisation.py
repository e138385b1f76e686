"""Making a network ready before its first inference, in the parts that the SNPE tools print.

Load reads the file, deserialise unpacks its weights, create builds the layers. A float file given
to a fixed-point runtime is quantised at load, a quantised one given to a float runtime is
dequantised. On the DSP each subnet also takes a round trip to hand its graph over.

Left out: compiling GPU kernels, caches of prepared graphs.
"""

from __future__ import annotations

from hexsim.plan import Plan
from hexsim.results import Overhead
from hexsim.runtimes import FIXED_POINT
from hexsim.simtime import seconds_to_ps
from hexsim.stacks import Profile, Stack


def initialisation(plan: Plan, stack: Stack, profile: Profile) -> tuple[Overhead, ...]:
    """Return the parts in order."""
    load = stack.load
    weights = plan.network.total_parameters
    is_fixed = plan.runtime in FIXED_POINT
    on_dsp = sum(subnet.engine == "hvx" for subnet in plan.subnets)
    rpc = dict(stack.entry.rpc)[profile.qos]
    parts = {
        "load": plan.stored_bytes / load.file_bytes_per_s,
        "deserialize": plan.stored_bytes * load.deserialize_s_per_byte,
        "quantize": weights * load.quantize_s_per_element
        if is_fixed and not plan.quantized
        else 0.0,
        "dequantize": weights * load.dequantize_s_per_element
        if plan.quantized and not is_fixed
        else 0.0,
        "create": len(plan.network.layers) * load.create_s_per_layer,
        "rpc_init": on_dsp * rpc.job_11ms_s,
    }
    result, now = [], 0
    for name, seconds in parts.items():
        duration = seconds_to_ps(seconds)
        if duration:
            result.append(Overhead(name, now, duration, forward=False))
            now += duration
    return tuple(result)
