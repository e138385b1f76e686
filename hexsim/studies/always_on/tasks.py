"""Periodic tasks: their cost on the island, and the reason why a task cannot run there.

The island has scalar threads and its own memory. So it runs layers in 8-bit codes (quantised
values) and clients of the scalar unit, if weights, live activations and the data of clients fit
into its free memory. Packets of a network are estimated from its counts; no stream is scheduled.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.datasheets.background import Client
from hexsim.datasheets.islands import Island
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled
from hexsim.layers import Convolution
from hexsim.memory import footprint_of
from hexsim.memory.other_engines import on_host
from hexsim.planning.plan import KernelCall, Plan

_US = 1e-6


@dataclass(frozen=True)
class Task:
    """Work of one period: packets over `threads`, multiply-accumulates and bytes."""

    name: str
    period_s: float
    threads: int
    packets: float
    macs: int
    moved_bytes: int


def network_task(plan: Plan, island: Island, period_s: float) -> Task:
    """Return the work of one inference on the island."""
    calls = tuple(plan.calls())
    return Task(
        name=plan.network.name,
        period_s=period_s,
        threads=island.hardware_threads,
        packets=sum(_packets(call, island) for call in calls),
        macs=sum(call.macs for call in calls),
        moved_bytes=sum(
            call.operand_bytes + call.result_bytes + call.parameter_bytes for call in calls
        ),
    )


def client_task(client: Client, threads: int) -> Task:
    """Return the work of one job of a client, interrupts included, on a core of `threads`."""
    return Task(
        name=client.name,
        period_s=client.period_us * _US,
        threads=min(client.threads, threads),
        packets=client.packets + client.interrupts * client.interrupt_packets,
        macs=0,
        moved_bytes=client.l2_bytes + client.ddr_bytes,
    )


def _packets(call: KernelCall, island: Island) -> float:
    layer = call.layer
    depthwise = isinstance(layer, Convolution) and layer.is_depthwise(call.operands[0][-1])
    per_mac = island.packets_per_depthwise_mac if depthwise else island.packets_per_mac
    shapes = call.results if call.macs else (*call.operands, *call.results)
    elements = sum(map(math.prod, shapes))
    return call.macs * per_mac + elements * island.packets_per_element + island.packets_per_layer


def require_fits(plan: Plan, platform: Platform, island: Island, kept_bytes: int) -> None:
    """Raise HexsimError if the network cannot run on the island.

    Clients use `kept_bytes` of its memory.
    """
    name, chip = plan.network.name, platform.chip.name
    remedy = f"leave it to the DSP with {spelled('on', 'dsp')}, or take a smaller network"
    for call in plan.calls():
        if call.engine != "hvx" or call.computes_float:
            raise HexsimError(
                f"layer '{call.layer.name}' of {name} computes floats on the {call.engine}, and "
                f"the low-power island of {chip} only computes with 8-bit codes; {remedy}"
            )
        if call.activation_bits > 8 or call.weight_bits > 8:
            raise HexsimError(
                f"layer '{call.layer.name}' of {name} has 16-bit codes, and the low-power island "
                f"of {chip} only computes with 8 bits; quantise it to 8 bits, or {remedy}"
            )
    stack = platform.stack
    weights = footprint_of(plan, platform.chip, stack, stack.buffer()).weight_bytes
    live = max(on_host(subnet).arena.size for subnet in plan.subnets)
    free = island.free_bytes - kept_bytes
    if weights + live > free:
        raise HexsimError(
            f"{name} needs {_kib(weights + live)} (weights {_kib(weights)}, activations "
            f"{_kib(live)}) and the low-power island of {chip} has {_kib(free)} left of its "
            f"{_kib(island.memory_bytes)}, without DDR; {remedy}"
        )


def misfit(client: Client, island: Island) -> str:
    """Return why a client cannot run on the island, or an empty text."""
    if client.unit == "hvx":
        return f"{client.name} uses vectors, which the island does not have, and wakes the DSP"
    if client.ddr_bytes > island.free_bytes:
        return (
            f"{client.name} moves {_kib(client.ddr_bytes)} a period, more than the "
            f"{_kib(island.free_bytes)} that the island has for it, and wakes the DSP"
        )
    return ""


def kept_bytes(clients: Sequence[Client]) -> int:
    """Return the island's memory that clients use instead of DDR."""
    return sum(client.ddr_bytes for client in clients)


def _kib(count: int) -> str:
    return f"{count / 1024:.0f} KiB"
