"""The points of a space by number, from which all parameters of a point follow.

The first list of the file varies slowest: settings, workloads, the constants with lists and steps,
and last the draws. So a space of 10^9 points needs no more memory than one of ten.

A point is simulated as a row: its parameters, times and counters, or the reason of its refusal. A
single call on an idle phone is simulated once. Several instances, or a background, run in a
closed loop (`hexsim.studies.throughput`): times are medians over all calls.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from hexsim.datasheets.areas import area_of
from hexsim.datasheets.quantity import Quantity
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.memory import footprint_of
from hexsim.planning.plan import Plan
from hexsim.records import dataclass, field
from hexsim.simulation.simulator import Workload
from hexsim.studies.sweep.settings import DEPLOYMENT, SPEEDS, DeployedLanguageModel, Setting
from hexsim.studies.sweep.space import Space
from hexsim.studies.throughput import Caller, ClosedLoop, throughput
from hexsim.studies.uncertainty import Array, latin_hypercube
from hexsim.timing.picoseconds import PS_PER_MS, PS_PER_SECOND, PS_PER_US


@dataclass(frozen=True)
class SweepCalling:
    """A way of calling a network; profile and buffer None are the stack's own, VTCM None is all."""

    instances: int
    background: tuple[str, ...]
    perf_profile: str | None
    buffer: BufferType | None
    idle_ms: float
    vtcm_mb: float | None


@dataclass(frozen=True)
class SweepPoint:
    """One point: a setting, a way of calling it, and values of constants."""

    number: int
    setting: Setting
    calling: SweepCalling
    constants: Mapping[str, float]


@dataclass(frozen=True)
class Points:
    """All points of a space with its settings."""

    space: Space
    settings: Sequence[Setting] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of points."""
        return math.prod(self._sizes)

    def __getitem__(self, number: int) -> SweepPoint:
        """Return the point with a number, from 0 on."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        at, calling, *steps, draw = map(int, np.unravel_index(number, self._sizes))
        setting = self.settings[at]
        shares = dict(zip(self.space.drawn, self._shares[draw], strict=True))
        step_of = dict(zip(self.space.constants, steps, strict=True))
        values = {
            path: how.value_at(setting.constants[path], step_of[path], float(shares.get(path, 0.0)))
            for path, how in self.space.constants.items()
        }
        values |= {path: float(round(values[path])) for path in setting.counted}
        return SweepPoint(number, setting, self._callings[calling], values)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        steps = (how.count for how in self.space.constants.values())
        return len(self.settings), len(self._callings), *steps, self.space.draws

    @cached_property
    def _callings(self) -> list[SweepCalling]:
        calls = self.space.workload
        profiles, buffers = calls.perf_profiles or (None,), calls.buffers or (None,)
        vtcm = self.space.vtcm_mb or (None,)
        lists = (calls.instances, calls.background, profiles, buffers, calls.idle_ms, vtcm)
        return [SweepCalling(*values) for values in itertools.product(*lists)]

    @cached_property
    def _shares(self) -> Array:
        """For each draw, the position of every drawn constant in its range (0 .. 1)."""
        return latin_hypercube(self.space.draws, len(self.space.drawn), self.space.seed)


Row = dict[str, str | int | float | None]

TIMES = ("latency_ms", "forward_ms", "initialisation_ms", "inferences_per_s")
MEMORY = "peak_memory_bytes"
"""Peak memory of one inference (`hexsim.memory`)."""
ENERGY = ("energy_mj", "energy_low_mj", "energy_high_mj")
"""Energy of the first inference, and both ends of its interval (`hexsim.energy`)."""
AREA = ("area_mm2", "area_low_mm2", "area_high_mm2")
"""Area of DSP and tensor engine at 7 nm, and both ends of its interval
(`hexsim.datasheets.areas`)."""
COUNTERS = (
    *("macs", "packets", "stalls"),
    *("ddr_read_bytes", "ddr_write_bytes", "l2_bytes", "vtcm_bytes"),
)
"""Counters of one inference, summed over its layers and overheads."""
RESULTS = (*TIMES, *SPEEDS, MEMORY, *ENERGY, *AREA, *COUNTERS)
"""The columns of numbers from the simulation."""


def row(point: SweepPoint, inferences: int) -> Row:
    """Simulate a point; closed loops have `inferences` calls of each instance."""
    numbers: dict[str, float | None] = dict.fromkeys(RESULTS)  # of a point that is refused
    refusal, subject = None, point.setting.subject
    try:
        whole = point.setting.platform_with(point.constants)
        platform = whole.with_vtcm(point.calling.vtcm_mb)
        if isinstance(subject, DeployedLanguageModel):
            numbers.update(subject.numbers(platform))
        else:
            numbers.update(_numbers(point, subject, platform, inferences))
        area = area_of(whole.chip)  # a graph that may use a part of VTCM makes no chip smaller
        numbers.update(zip(AREA, (area.value, area.low, area.high), strict=True))
    except HexsimError as error:
        refusal = str(error)
    return {**_parameters(point), **numbers, "refusal": refusal}


def _parameters(point: SweepPoint) -> Row:
    setting, calling = point.setting, point.calling
    chip, stack = setting.platform.chip, setting.platform.stack
    subject = setting.subject
    deployment: Mapping[str, str | int | None] = (
        subject.parameters
        if isinstance(subject, DeployedLanguageModel)
        else dict.fromkeys(DEPLOYMENT)
    )
    outside = [
        path
        for path, value in point.constants.items()
        if _leaves_bounds(setting.constants[path], value)
    ]
    return {
        "point": point.number,
        "network": setting.network,
        "chip": chip.name,
        "stack": stack.name,
        "runtime": setting.runtime,
        "cut": setting.cut,
        "instances": calling.instances,
        "background": " ".join(calling.background),
        "perf_profile": calling.perf_profile or stack.default_profile,
        "buffer": calling.buffer or stack.buffer(),
        "idle_ms": calling.idle_ms,
        "vtcm_mb": calling.vtcm_mb,
        **deployment,
        **point.constants,
        "outside_bounds": " ".join(outside),
    }


def _leaves_bounds(constant: Quantity, value: float) -> bool:
    """Return True if a value is outside the constant's bounds in its datasheet."""
    if constant.low is None or constant.high is None:
        return False
    return not constant.low <= value <= constant.high


def _numbers(
    point: SweepPoint, plan: Plan, platform: Platform, inferences: int
) -> Mapping[str, float]:
    calling = point.calling
    if calling.instances == 1 and not calling.background:
        result = platform.simulate(
            Workload.single(
                plan,
                perf_profile=calling.perf_profile,
                idle_ms=calling.idle_ms,
                buffer=calling.buffer,
            )
        )
        latency_ps, per_second = result.total_ps, PS_PER_SECOND / result.total_ps
    else:
        loop = ClosedLoop(
            inferences=inferences,
            perf_profile=calling.perf_profile,
            buffer=calling.buffer,
            background=tuple(point.setting.loads[name] for name in calling.background),
        )
        instances = throughput(platform, [Caller(plan, calling.instances)], loop)
        assert instances.timing is not None
        result, total = instances.timing, instances.total
        latency_ps = round(total.latency_us["median"] * PS_PER_US)
        per_second = total.inferences_per_second
    times_ps = (latency_ps, result.forward_ps, result.init_ps)
    buffer = platform.stack.buffer(calling.buffer)
    memory = footprint_of(plan, platform.chip, platform.stack, buffer)
    energy = platform.energy(result, calling.perf_profile)
    energies = (energy.millijoules, energy.low, energy.high)
    parts = (*result.inferences[0].layers, *result.inferences[0].overheads)
    return {
        **dict(zip(TIMES, (*(ps / PS_PER_MS for ps in times_ps), per_second), strict=True)),
        MEMORY: memory.peak_bytes,
        **dict(zip(ENERGY, energies, strict=True)),
        **{name: sum(getattr(part, name, 0) for part in parts) for name in COUNTERS},
    }
