"""The DSP as always-on: the CPU calls it every period, and both wake up for that.

Calls are simulated after the idle time that the period leaves, until they repeat. Afterwards the
DSP stays awake while its votes are held; then its power collapses. A client with a shorter pause
keeps it awake, without any wake-ups. Clients are assumed not to overlap the call.

Left out: the power of the CPU while it sleeps.

Also the tasks that both alternatives share, their average power by part, their cost on the island,
and the reason why a task cannot run there. The island has scalar threads and its own memory. So it
runs layers in 8-bit codes (quantised values) and clients of the scalar unit, if weights, live
activations and the data of clients fit into its free memory. Packets of a network are estimated
from its counts; no stream is scheduled.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, get_args

from hexsim.datasheets.background import Client
from hexsim.datasheets.chips import Corner
from hexsim.datasheets.islands import Island
from hexsim.datasheets.quantity import Estimate
from hexsim.deployment.platform import Platform
from hexsim.energy import Energy
from hexsim.energy.account import total
from hexsim.energy.rates import IdleRates, Rates, idle_rates, rates
from hexsim.errors import HexsimError, spelled
from hexsim.memory import footprint_of
from hexsim.memory.engines import on_host
from hexsim.planning.plan import KernelCall, Plan
from hexsim.records import dataclass
from hexsim.results.always_on import Alternative
from hexsim.simulation.simulator import Workload
from hexsim.texts.figures import figure
from hexsim.timing.picoseconds import PS_PER_MS, PS_PER_SECOND
from hexsim.timing.results import Result

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
    per_mac = island.packets_per_depthwise_mac if call.is_depthwise else island.packets_per_mac
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


Part = Literal["inference", "background", "wake-ups", "idle", "ddr"]
PARTS: tuple[Part, ...] = get_args(Part)


class Power(TypedDict):
    """The fields of an alternative that say its power."""

    average_power_mw: Estimate
    parts_mw: dict[str, Estimate]


def side_by_side(watts: Sequence[Mapping[Part, float]]) -> Power:
    """Return milliwatts by part from watts at the stated, the lower and the upper constants."""
    value, low, high = watts
    parts: dict[str, Estimate] = {
        part: Estimate(value[part], low[part], high[part]) * 1e3 for part in PARTS if part in value
    }
    return Power(average_power_mw=total(parts.values()), parts_mw=parts)


_WAKE_UPS = ("cpu_wake", "dsp_wake", "hta_wake")
_LONGEST = 64
"""Number of calls whose mean is used if the calls do not repeat."""
_END = ("value", "low", "high")


@dataclass(frozen=True)
class Residents:
    """Clients that run on the DSP."""

    platform: Platform
    corner: Corner
    clients: tuple[Client, ...]

    @property
    def linger_s(self) -> float:
        """Time that the DSP stays awake after a job."""
        entry = self.platform.stack.entry
        return entry.dsp_wake.off.after_idle_s if entry.power_collapse else float("inf")

    @property
    def tasks(self) -> tuple[tuple[Client, Task], ...]:
        """The clients with their tasks."""
        threads = self.platform.chip.dsp.hardware_threads
        return tuple((client, client_task(client, threads)) for client in self.clients)

    def run_s(self, task: Task) -> float:
        """Return the time of a job that has its threads for itself."""
        dsp = self.platform.chip.dsp
        return task.packets * dsp.issue_clk_per_packet / (dsp.clock_hz(self.corner) * task.threads)

    @property
    def keep_awake(self) -> bool:
        """True if a client starts its next job before the DSP has fallen asleep."""
        return any(task.period_s - self.run_s(task) <= self.linger_s for _, task in self.tasks)

    def awake_share(self) -> float:
        """Return the share of the time in which clients keep the DSP awake, 0 .. 1."""
        wake_s = self.platform.stack.entry.dsp_wake.off.wake_s
        if self.keep_awake:
            return 1.0
        return sum(
            (wake_s + self.run_s(task) + self.linger_s) / task.period_s for _, task in self.tasks
        )

    def watts(self, rate: Rates, idle: IdleRates) -> dict[Part, float]:
        """Return the clients' power by part, without the DSP's idle power."""
        awake_w = rate.leakage_w["dsp"] + rate.clock_tree_w["dsp"]
        wake_s = self.platform.stack.entry.dsp_wake.off.wake_s
        running = woken = 0.0
        for client, task in self.tasks:
            packet_j = rate.vector_packet_j if client.unit == "hvx" else rate.scalar_packet_j
            joules = task.packets * packet_j + client.l2_bytes * rate.l2_j
            joules += client.ddr_bytes * rate.ddr_j + self.run_s(task) * awake_w
            running += joules / task.period_s
            if not self.keep_awake:
                woken += (idle.dsp_wake_j + wake_s * awake_w) / task.period_s
        return {"background": running, "wake-ups": woken}

    def run_share(self) -> float:
        """Return the share of the time in which clients compute."""
        return sum(self.run_s(task) / task.period_s for _, task in self.tasks)


def on_dsp(
    plan: Plan,
    platform: Platform,
    period_s: float,
    perf_profile: str | None,
    clients: Sequence[Client],
) -> Alternative:
    """Return the alternative; raise HexsimError if a call takes longer than the period."""
    profile = platform.stack.profile(perf_profile)
    residents = Residents(platform, profile.dsp_corner, tuple(clients))
    if residents.keep_awake:
        platform = platform.without_power_collapse()
    calls = _cycle(plan, platform, period_s, perf_profile)
    call_s = sum(call.seconds for call in calls) / len(calls)
    asleep_after_s = profile.hold_s + residents.linger_s
    lingering_s = sum(min(call.gap_s, asleep_after_s) for call in calls) / len(calls)
    awake = min(1.0, (call_s + lingering_s) / period_s + residents.awake_share())
    share = _Shares(period_s, call_s, awake, residents.run_share())
    energies = [platform.energy(call.result, perf_profile) for call in calls]
    constants = zip(
        _END, rates(platform.chip, profile.dsp_corner), idle_rates(platform.chip), strict=True
    )
    watts = [share.watts(energies, residents, end, rate, idle) for end, rate, idle in constants]
    return Alternative(
        where="dsp",
        corner=profile.dsp_corner,
        clock_hz=platform.chip.dsp.clock_hz(profile.dsp_corner),
        call_ms=call_s * 1e3,
        duty=awake,
        **side_by_side(watts),
    )


@dataclass(frozen=True)
class _DspCall:
    """A call, and the idle time that follows it."""

    result: Result
    gap_ps: int

    @property
    def seconds(self) -> float:
        return self.result.total_ps / PS_PER_SECOND

    @property
    def gap_s(self) -> float:
        return self.gap_ps / PS_PER_SECOND


def _cycle(
    plan: Plan, platform: Platform, period_s: float, perf_profile: str | None
) -> tuple[_DspCall, ...]:
    """Return the calls that repeat for ever: usually a single one.

    A call that waits for a wake-up may last into the next period. The next one then starts late,
    with everything awake, and leaves a longer idle time: so with short periods calls alternate.
    """
    period_ps = round(period_s * PS_PER_SECOND)
    calls: list[_DspCall] = []
    states: list[tuple[int, int]] = []
    late_ps, idle_ps = 0, period_ps
    while (late_ps, idle_ps) not in states and len(calls) < _LONGEST:
        states.append((late_ps, idle_ps))
        idle_ms = idle_ps / PS_PER_MS
        result = platform.simulate(
            Workload.single(plan, perf_profile=perf_profile, idle_ms=idle_ms)
        )
        if not idle_ps and result.total_ps > period_ps:
            raise HexsimError(
                f"{plan.network.name} takes {figure(result.total_ps / PS_PER_MS)} ms on the DSP of "
                f"{platform.chip.name}, more than every {period_s * 1e3:g} ms; call it less often"
            )
        left_ps = period_ps - late_ps - result.total_ps
        late_ps, idle_ps = max(0, -left_ps), max(0, left_ps)
        calls.append(_DspCall(result, idle_ps))
    again = states.index((late_ps, idle_ps)) if (late_ps, idle_ps) in states else 0
    return tuple(calls[again:])


@dataclass(frozen=True)
class _Shares:
    """Average time of a call, and shares of the time in which the DSP is awake."""

    period_s: float
    call_s: float
    awake: float
    clients: float

    def watts(
        self,
        energies: Sequence[Energy],
        residents: Residents,
        end: str,
        rate: Rates,
        idle: IdleRates,
    ) -> dict[Part, float]:
        """Return power by part at one end of the constants from the energy of each call."""
        overheads = [overhead for energy in energies for overhead in energy.overheads]
        woken_j = sum(
            _joules(overhead.estimate, end) for overhead in overheads if overhead.name in _WAKE_UPS
        )
        collapses = sum(overhead.name == "dsp_wake" for overhead in overheads)
        calls_j = sum(_joules(energy.estimate, end) for energy in energies)
        wake_j = (woken_j + collapses * idle.dsp_wake_j) / len(energies)
        inference_j = (calls_j - woken_j) / len(energies)
        of_clients = residents.watts(rate, idle)
        awake_w = rate.leakage_w["dsp"] + rate.clock_tree_w["dsp"]
        waiting = max(0.0, self.awake - self.call_s / self.period_s - self.clients)
        return {
            "inference": inference_j / self.period_s,
            "background": of_clients["background"],
            "wake-ups": wake_j / self.period_s + of_clients["wake-ups"],
            "idle": waiting * awake_w + (1 - self.awake) * idle.dsp_asleep_w,
            "ddr": self.awake * idle.ddr_standby_w + (1 - self.awake) * idle.ddr_self_refresh_w,
        }


def _joules(millijoules: Estimate, end: str) -> float:
    return float(getattr(millijoules, end)) * 1e-3
