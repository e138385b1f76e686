"""The initialisation of a network, in the parts that the SNPE tools print, and its release.

Load reads the file, deserialise unpacks its weights, create builds the layers and prepares the
graphs of a tensor processor, unless the file has them prepared (a context binary, which is read
instead of the weights). Further parts
follow from the rules of hexsim.planning.load_rules, subnet by subnet: weights of a float file are
quantised for the DSP, those of a quantised one dequantised for float runtimes, CPU fallback
included. Dequantising takes as long as reading the bytes that the quantised file saves, and a time
per weight on top: SNPE's guide says that dequantising makes the initialisation longer than that of
the float file (documented), and gives no figures, so no values of the constants may break this.
Float weights in a quantised file are treated like those of a float file, on every
runtime that accepts it (inferred: the guide only says that they stay float). On the DSP and the
tensor processor each subnet also takes a round trip that passes its graph (the RPC init time of
the tools, which count both into create).

Release takes a share of the time of create, and another round trip for each subnet on the DSP.

Left out: compiling GPU kernels.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

from hexsim.datasheets.quantity import Estimate
from hexsim.datasheets.stacks import Profile, Stack
from hexsim.planning.load_rules import Effect, load_rule
from hexsim.planning.plan import FLOAT_BYTES, Plan
from hexsim.runtimes import Engine, Runtime
from hexsim.timing.picoseconds import seconds_to_ps
from hexsim.timing.results import Overhead

_OTHER_FORM = 0.25
"""Share by which a runtime's weights differ in size from the file's if they have another form, such
as the halves of a GPU; operands that are counted in one of both differ by less (ours)."""

_WITH_GRAPHS: frozenset[Engine] = frozenset({"hvx", "htp"})
"""Engines that receive the graph of a subnet by FastRPC."""


def initialisation(plan: Plan, stack: Stack, profile: Profile) -> tuple[Overhead, ...]:
    """Return the parts in order."""
    load = stack.load
    read_s_per_byte = 1 / load.file_bytes_per_s + load.deserialize_s_per_byte
    dequantized = _weights(plan, stack, "dequantise")
    on_dsp = _graphs(plan)
    rpc = stack.entry.rpc.of(profile)
    read_bytes = plan.stored_bytes if plan.binary_bytes is None else plan.binary_bytes
    parts = {
        "load": read_bytes / load.file_bytes_per_s,
        "deserialize": read_bytes * load.deserialize_s_per_byte,
        "quantize": _weights(plan, stack, "quantise") * load.quantize_s_per_element,
        "dequantize": dequantized * load.dequantize_s_per_element
        + _saved_bytes(plan, dequantized) * read_s_per_byte,
        "create": _created_s(plan, stack),
        "rpc_init": on_dsp * rpc.job_11ms_s,
    }
    return _in_order(parts)


def release(plan: Plan, stack: Stack, profile: Profile) -> tuple[Overhead, ...]:
    """Return the parts of tearing a network down, in order."""
    on_dsp = _graphs(plan)
    rpc = stack.entry.rpc.of(profile)
    created_s = len(plan.network.layers) * stack.load.create_s_per_layer
    return _in_order(
        {"release": created_s * stack.load.release_share, "rpc_release": on_dsp * rpc.job_11ms_s}
    )


def loading_bytes(plan: Plan, stack: Stack, weight_bytes: int, packed_bytes: int) -> Estimate:
    """Return the memory of weights at the peak of an initialisation, in bytes.

    `weight_bytes` are the weights in the form in which the runtime keeps them, and `packed_bytes`
    the copies that its kernels read. The weights of the file are in memory beside both; a runtime
    that takes them as they are keeps them. Lower end: the file is read layer by layer, so hardly
    more than the rest is in memory at a time. Upper end: the file and its deserialised weights are
    in memory together. Nothing was measured: all are counts of bytes (assumed).
    """
    stored = float(plan.stored_bytes if plan.binary_bytes is None else plan.binary_bytes)
    changes = _weights(plan, stack, "quantise") + _weights(plan, stack, "dequantise") > 0
    if changes or abs(weight_bytes - stored) > _OTHER_FORM * stored:
        made = weight_bytes + packed_bytes
        return Estimate(stored + made, made, 2 * stored + made)
    return Estimate(stored + packed_bytes, stored + packed_bytes, 2 * stored + packed_bytes)


def _created_s(plan: Plan, stack: Stack) -> float:
    """Return the seconds of creating all layers; those of a tensor processor are prepared, here or
    in a binary."""
    prepared = plan.layers_on("htp")
    others_s = (len(plan.network.layers) - prepared) * stack.load.create_s_per_layer
    here = prepared if plan.binary_bytes is None else 0
    return others_s + (here * stack.htp.prepare_s_per_layer if here else 0.0)


def _graphs(plan: Plan) -> int:
    """Return the number of graphs; neighbouring subnets on the tensor processor are one."""
    engines = [subnet.engine for subnet in plan.subnets]
    again = sum(pair == ("htp", "htp") for pair in pairwise(engines))
    return sum(engine in _WITH_GRAPHS for engine in engines) - again


def _in_order(parts: Mapping[str, float]) -> tuple[Overhead, ...]:
    """Return parts of these seconds, one after another, without those that take no time."""
    overheads, now = [], 0
    for name, seconds in parts.items():
        duration = seconds_to_ps(seconds)
        if duration:
            overheads.append(Overhead(name, now, duration, forward=False))
            now += duration
    return tuple(overheads)


def _weights(plan: Plan, stack: Stack, effect: Effect) -> int:
    """Return the number of weights and biases in subnets whose runtime has this effect."""
    return sum(
        math.prod(shape)
        for subnet in plan.subnets
        if _effect(subnet.runtime, stack, plan) == effect
        for call in subnet.calls
        for name, shape in zip(call.layer.parameters, call.parameters, strict=True)
        if name not in plan.floats
    )


def _saved_bytes(plan: Plan, dequantized: int) -> float:
    """Return the bytes that the file saves, because so many of its weights are not floats."""
    weights = plan.network.total_parameters
    saved = max(0, weights * FLOAT_BYTES - plan.stored_bytes)
    floats = sum(math.prod(plan.network.constants[name].shape) for name in plan.floats)
    return saved * min(1.0, dequantized / max(1, weights - floats))


def _effect(runtime: Runtime, stack: Stack, plan: Plan) -> Effect:
    """Return the effect on weights; a float file that is refused has been quantised already."""
    effect = load_rule(runtime, stack, quantized=plan.quantized).effect
    return "quantise" if effect == "refuse" else effect
