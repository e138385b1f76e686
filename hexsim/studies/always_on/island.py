"""The low-power island as always-on: it wakes up for each task, works, and retains its memory.

It runs at the lowest corner at which all its tasks finish in time, one after the other. DDR is in
self-refresh and the DSP is without power, except for clients that cannot run on the island: they
wake both.

Left out: the transfer of samples, and the power of other blocks while the island is awake.
"""

from collections.abc import Sequence
from typing import get_args

from hexsim.datasheets.background import Client
from hexsim.datasheets.chips import Corner
from hexsim.datasheets.islands import Island, island_of
from hexsim.deployment.platform import Platform
from hexsim.energy.rates import IdleRates, IslandRates, Rates, idle_rates, island_rates, rates
from hexsim.errors import HexsimError, spelled
from hexsim.planning.plan import Plan
from hexsim.records import dataclass
from hexsim.results.always_on import Alternative
from hexsim.studies.always_on.dsp import (
    Part,
    Residents,
    Task,
    client_task,
    kept_bytes,
    misfit,
    network_task,
    require_fits,
    side_by_side,
)


@dataclass(frozen=True)
class _Shift:
    """The tasks of an island at a corner: the network's and the clients'."""

    island: Island
    corner: Corner
    network: Task
    clients: tuple[Task, ...]

    def run_s(self, task: Task) -> float:
        clock_hz = self.island.clock_hz(self.corner)
        return task.packets * self.island.issue_clk_per_packet / (clock_hz * task.threads)

    @property
    def duty(self) -> float:
        """Share of the time in which the island is awake; above 1 the work takes too long."""
        return sum(
            (self.run_s(task) + self.island.wake_s) / task.period_s
            for task in (self.network, *self.clients)
        )

    def watts(
        self, rate: IslandRates, idle: IdleRates, residents: Residents, dsp: Rates
    ) -> dict[Part, float]:
        """Return power by part, including clients on the DSP."""
        tasks = (self.network, *self.clients)
        woken_j = rate.wake_j + self.island.wake_s * rate.awake_w
        awake = residents.awake_share()
        waiting = max(0.0, awake - residents.run_share())
        of_clients = residents.watts(dsp, idle)
        awake_w = dsp.leakage_w["dsp"] + dsp.clock_tree_w["dsp"]
        return {
            "inference": self._working_w(self.network, rate),
            "background": sum(self._working_w(task, rate) for task in self.clients)
            + of_clients["background"],
            "wake-ups": sum(woken_j / task.period_s for task in tasks) + of_clients["wake-ups"],
            "idle": max(0.0, 1 - self.duty) * rate.retention_w
            + waiting * awake_w
            + (1 - awake) * idle.dsp_asleep_w,
            "ddr": awake * idle.ddr_standby_w + (1 - awake) * idle.ddr_self_refresh_w,
        }

    def _working_w(self, task: Task, rate: IslandRates) -> float:
        joules = task.packets * rate.scalar_packet_j + task.macs * rate.mac_j
        joules += task.moved_bytes * rate.local_j + self.run_s(task) * rate.awake_w
        return joules / task.period_s


def on_island(
    plan: Plan,
    platform: Platform,
    period_s: float,
    perf_profile: str | None,
    clients: Sequence[Client],
) -> Alternative:
    """Return the alternative; raise HexsimError if the network does not fit or is too slow."""
    chip = platform.chip
    island = island_of(chip)
    on_this = [client for client in clients if not misfit(client, island)]
    require_fits(plan, platform, island, kept_bytes(on_this))
    datasheets = (island, island.at_low(), island.at_high())
    corner = _corner(plan, island, period_s, on_this)
    shifts = [_shift(plan, datasheet, corner, period_s, on_this) for datasheet in datasheets]
    dsp_corner = platform.stack.profile(perf_profile).dsp_corner
    elsewhere = tuple(client for client in clients if client not in on_this)
    residents = Residents(platform, dsp_corner, elsewhere)
    constants = zip(
        shifts,
        island_rates(chip, island, corner),
        idle_rates(chip),
        rates(chip, dsp_corner),
        strict=True,
    )
    watts = [shift.watts(rate, idle, residents, dsp) for shift, rate, idle, dsp in constants]
    return Alternative(
        where="island",
        corner=corner,
        clock_hz=island.clock_hz(corner),
        call_ms=(shifts[0].run_s(shifts[0].network) + island.wake_s) * 1e3,
        duty=shifts[0].duty,
        **side_by_side(watts),
        elsewhere=tuple(misfit(client, island) for client in elsewhere),
    )


def _shift(
    plan: Plan, island: Island, corner: Corner, period_s: float, clients: Sequence[Client]
) -> _Shift:
    threads = island.hardware_threads
    tasks = tuple(client_task(client, threads) for client in clients)
    return _Shift(island, corner, network_task(plan, island, period_s), tasks)


def _corner(plan: Plan, island: Island, period_s: float, clients: Sequence[Client]) -> Corner:
    corners: tuple[Corner, ...] = get_args(Corner)
    for corner in reversed(corners):
        shift = _shift(plan, island, corner, period_s, clients)
        if shift.duty <= 1:
            return corner
    raise HexsimError(
        f"{plan.network.name} every {period_s * 1e3:g} ms keeps the low-power island busy for "
        f"{shift.duty:.0%} of the time at its highest clock; call it less often, or leave it to "
        f"the DSP with {spelled('on', 'dsp')}"
    )
