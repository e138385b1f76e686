"""The memory of a plan's inference: by layer, and the total that is allocated while it runs.

All subnets are prepared before the first inference and stay in memory. Scratch is counted once: one
subnet runs at a time, and leaves nothing in it. A call into the DSP has a buffer for each tensor,
of floats if the DSP converts them; quantised buffers of the application (tf8) are used directly.
CPU and GPU read and write arenas directly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.quantity import Estimate
from hexsim.datasheets.stacks import BufferType, Stack
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.host.entry import crossing_bytes
from hexsim.memory.engines import on_host, on_hta, on_htp, on_hvx
from hexsim.memory.graph import SubnetGraph
from hexsim.planning.plan import JoinedSubnets, KernelCall, Plan, joined_subnets
from hexsim.results.costs import Footprint, LayerMemory
from hexsim.runtimes import FIXED_POINT
from hexsim.texts.figures import figure

if TYPE_CHECKING:
    from hexsim.hvx.kernels import Target

ADDRESSED_BYTES = 2**32
"""Bytes that a process of the tensor processor addresses: registers and virtual addresses of
Hexagon have 32 bits (its programmer's reference manuals and LLVM's Hexagon target; documented)."""


def require_addressable(memory: Footprint, name: str) -> None:
    """Raise HexsimError if a process of the tensor processor cannot hold the network."""
    if memory.addressed_bytes > ADDRESSED_BYTES:
        raise HexsimError(
            f"the weights and activations of '{name}' take "
            f"{figure(memory.addressed_bytes / 1e9)} GB, and a process of the tensor processor "
            f"addresses {figure(ADDRESSED_BYTES / 1e9)} GB; use narrower weights, or "
            "split the network"
        )


_REMEMBERED = 64
"""Number of graphs that are cached, for repeated calls with other constants."""
_FLOAT_BYTES = 4
_SUM_BITS = 32
"""Bits of biases of quantised layers."""
_CODE_BITS = 8
"""Bits of the narrowest weights that a kernel reads; 4-bit weights are unpacked at load."""


def footprint_of(plan: Plan, chip: Chip, stack: Stack, buffer: BufferType) -> Footprint:
    """Return the memory of one inference whose application has buffers of the type `buffer`.

    Raises HexsimError if the chip lacks an engine of the plan.
    """
    calls = joined_subnets(plan)
    graphs = [
        graph
        for call_subnets in calls
        for graph in _graphs(plan.network, call_subnets, chip, stack)
    ]
    weight_sizes: dict[tuple[str, str], int] = {}
    layers = []
    for graph in graphs:
        rows = zip(graph.subnet.calls, graph.packed, graph.live, graph.on_chip, strict=True)
        for call, packed, live, on_chip in rows:
            weights = _weights(call, plan)
            if call.engine != "htp":
                weight_sizes |= {(call.engine, name): size for name, size in weights.items()}
            layers.append(
                LayerMemory(
                    name=call.layer.name,
                    type=call.layer.type,
                    engine=call.engine,
                    weight_bytes=sum(weights.values()),
                    packed_bytes=packed,
                    live_bytes=live,
                    on_chip_bytes=on_chip,
                )
            )
    of_htp = [graph for graph in graphs if graph.subnet.engine == "htp"]
    parts = {
        "weight_bytes": sum(weight_sizes.values()),
        "packed_bytes": sum(layer.packed_bytes for layer in layers),
        "activation_bytes": sum(graph.arena.size for graph in graphs),
        # one subnet runs at a time
        "scratch_bytes": max((graph.scratch_bytes for graph in graphs), default=0),
        "handed_bytes": sum(_handed(plan, call, stack, buffer) for call in calls if call.on_dsp),
        "application_bytes": _application(plan, buffer),
    }
    peak_bytes = sum(parts.values())  # all of it is allocated at initialisation
    runtime = _runtime(stack, sum(len(graph.packed) for graph in of_htp))
    largest = max(layers, key=lambda layer: layer.live_bytes, default=None)
    return Footprint(
        peak_bytes=peak_bytes,
        process=None if runtime is None else runtime + peak_bytes,
        **parts,
        addressed_bytes=sum(sum(graph.packed) + graph.arena.size for graph in of_htp),
        live_bytes=largest.live_bytes if largest else 0,
        largest_layer=largest.name if largest else None,
        on_chip_bytes=max((layer.on_chip_bytes for layer in layers), default=0),
        layers=tuple(layers),
    )


def _runtime(stack: Stack, prepared: int) -> Estimate | None:
    """Return what a process takes beside a network with so many layers on the tensor processor."""
    if not prepared:
        return None
    known = dict(stack.quantities())
    each = Estimate.of(known["htp.memory_bytes_per_layer"])
    return Estimate.of(known["htp.process_bytes"]) + each * prepared


def _graphs(
    network: Network, call_subnets: JoinedSubnets, chip: Chip, stack: Stack
) -> Iterator[SubnetGraph]:
    """Yield the graphs of the subnets of one call."""
    for number, subnet in enumerate(call_subnets.subnets):
        if subnet.engine == "hvx":
            from hexsim.hvx.kernels import Target  # not for a network without the DSP

            yield _on_hvx(call_subnets, number, Target.of(chip, stack))
        elif subnet.engine == "htp":
            yield on_htp(subnet, network, chip.htp)
        else:
            yield on_hta(subnet, chip.hta) if subnet.engine == "hta" else on_host(subnet)


@lru_cache(_REMEMBERED)
def _on_hvx(call_subnets: JoinedSubnets, number: int, target: Target) -> SubnetGraph:
    """Return the graph of a subnet on HVX, which depends only on the target."""
    from_hta = call_subnets.written_by("hta")
    leaving = call_subnets.read_by("hvx") - from_hta | frozenset(call_subnets.outputs)
    return on_hvx(call_subnets.subnets[number], target, from_hta=from_hta, leaving=leaving)


def _weights(call: KernelCall, plan: Plan) -> dict[str, int]:
    """Return the bytes of the constants of a call, by name."""
    layer = call.layer
    bits = call.weight_bits if call.computes_float else max(call.weight_bits, _CODE_BITS)
    sizes = {
        name: math.prod(shape) * call.input_bits // 8
        for name, shape in zip(layer.inputs, call.operands, strict=True)
        if name in plan.network.constants
    }
    for at, (name, shape) in enumerate(zip(layer.parameters, call.parameters, strict=True)):
        is_sum = at > 0 and len(shape) == 1 and not call.computes_float
        sizes[name] = math.prod(shape) * (_SUM_BITS if is_sum else bits) // 8
    return sizes


def _handed(plan: Plan, call_subnets: JoinedSubnets, stack: Stack, buffer: BufferType) -> int:
    """Return the bytes of a call's buffers that are not the application's own."""
    network = plan.network
    own = {*network.inputs, *network.outputs} if buffer == "tf8" else frozenset[str]()
    inputs, outputs = crossing_bytes(call_subnets, stack, buffer)
    return sum(size for name, size in {**inputs, **outputs}.items() if name not in own)


def _application(plan: Plan, buffer: BufferType) -> int:
    """Return the bytes of the application's inputs and outputs."""
    network = plan.network
    codes = _code_bytes(plan) if buffer == "tf8" else {}
    default = 1 if buffer == "tf8" else _FLOAT_BYTES
    return sum(
        math.prod(network.shape(name)) * codes.get(name, default)
        for name in (*network.inputs, *network.outputs)
    )


def _code_bytes(plan: Plan) -> Mapping[str, int]:
    """Return the bytes of one value of every quantised tensor, by name."""
    return {
        name: bits // 8
        for subnet in plan.subnets
        if subnet.runtime in FIXED_POINT
        for name, bits in subnet.bits.items()
    }
