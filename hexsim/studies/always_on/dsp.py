"""The DSP as always-on: the CPU calls it every period, and both wake up for that.

Calls are simulated after the idle time that the period leaves, until they repeat. Afterwards the
DSP stays awake while its votes are held; then its power collapses. A client with a shorter pause
keeps it awake, without any wake-ups. Clients are assumed not to overlap the call.

Left out: the power of the CPU while it sleeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.datasheets.background import Client
from hexsim.datasheets.chips.chip import Corner
from hexsim.datasheets.estimate import Estimate
from hexsim.deployment.platform import Platform
from hexsim.energy import Energy
from hexsim.energy.idle import IdleRates, idle_rates
from hexsim.energy.rates import Rates, rates
from hexsim.errors import HexsimError
from hexsim.planning.plan import Plan
from hexsim.results.always_on import Alternative
from hexsim.simulation.simulator import Workload
from hexsim.studies.always_on.parts import Part, side_by_side
from hexsim.studies.always_on.tasks import Task, client_task
from hexsim.texts.figures import figure
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS, PS_PER_SECOND

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
        """Duration of the call."""
        return self.result.total_ps / PS_PER_SECOND

    @property
    def gap_s(self) -> float:
        """Duration of the idle time."""
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
