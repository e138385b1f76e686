"""The simulated phone: a chip under a stack with a performance profile, as simpy resources.

Its parts can be recorded: hardware threads and vector contexts are places, each with at most one
occupant; DDR and the cores of the CPU are rates that their users share. Recording slows a
simulation down, so only workloads that ask for it are recorded.

The bus follows the highest vote among the jobs of a workload.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import simpy

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import BufferType, Profile, Stack
from hexsim.host.cpu_and_gpu import HostCores
from hexsim.hta.engine import EngineRule, TensorEngine
from hexsim.htp.engine import TensorProcessor
from hexsim.htp.machine import HtpMachine
from hexsim.planning.plan import Plan
from hexsim.records import dataclass, field
from hexsim.timing.memory import Ddr, DdrRule, Traffic
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.results import Level, Span
from hexsim.timing.simtime import Environment

if TYPE_CHECKING:
    from hexsim.simulation.phone_dsp import PhoneDsp


class Places:
    """Numbered places, each with a track; each occupation becomes a span."""

    def __init__(self, env: Environment, name: str, count: int, spans: list[Span]) -> None:
        self._env = env
        self._name = name
        self._spans = spans
        self._occupants: list[str | None] = [None] * count
        self._since = [0] * count

    def occupied_by(self, occupants: Sequence[str | None]) -> None:
        """Record the occupants of all places from now on."""
        for place, (before, after) in enumerate(zip(self._occupants, occupants, strict=True)):
            if before != after:
                self._leave(place)
                self._occupants[place] = after

    def end(self) -> None:
        """Record that all places are empty."""
        self.occupied_by([None] * len(self._occupants))

    def _leave(self, place: int) -> None:
        start, self._since[place] = self._since[place], self._env.now
        occupant = self._occupants[place]
        if occupant is not None and self._env.now > start:
            self._spans.append(Span(f"{self._name} {place}", occupant, start, self._env.now))


@dataclass(frozen=True)
class Meter:
    """The sum of the rates of all users; multiplied by `scale` it is in `unit`."""

    env: Environment
    name: str
    unit: str
    capacity: float
    scale: float
    steps: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])

    def reads(self, rate: float) -> None:
        """Record the rate from now on; of several at one instant the last one counts."""
        now, value = self.env.now, rate * self.scale
        if self.steps[-1][0] == now:
            self.steps.pop()
        if not self.steps or self.steps[-1][1] != value:
            self.steps.append((now, value))

    @property
    def level(self) -> Level:
        """The rates recorded so far."""
        return Level(self.name, self.unit, self.capacity, tuple(self.steps))


@dataclass(frozen=True)
class Recording:
    """All places and meters of one phone; `spans` is the phone's list of spans."""

    env: Environment
    spans: list[Span]
    _places: list[Places] = field(default_factory=list)
    _meters: list[Meter] = field(default_factory=list)

    def places(self, name: str, count: int) -> Places:
        """Record `count` places; their tracks are called `name` 0, `name` 1, and so on."""
        self._places.append(Places(self.env, name, count, self.spans))
        return self._places[-1]

    def meter(self, name: str, unit: str, capacity: float, *, scale: float = 1) -> Meter:
        """Record a rate that can be at most `capacity`, in `unit`."""
        self._meters.append(Meter(self.env, name, unit, capacity, scale))
        return self._meters[-1]

    def end(self) -> tuple[Level, ...]:
        """End all spans; return the levels of all meters, which end at zero."""
        for places in self._places:
            places.end()
        for meter in self._meters:
            meter.reads(0.0)
        return tuple(meter.level for meter in self._meters)


@dataclass(frozen=True)
class Request:
    """How the inferences of one job are run; `name` is a prefix of the tracks of its spans."""

    job: int
    name: str
    plan: Plan
    profile: Profile
    buffer: BufferType
    idle_s: float
    urgency: int


class Phone:
    """All that inferences share; the DSP is created when a job first needs it."""

    def __init__(
        self,
        chip: Chip,
        stack: Stack,
        profiles: Iterable[Profile],
        *,
        recorded: bool = False,
        graphs: int = 1,
    ) -> None:
        self.env = Environment()
        self.chip = chip
        self.stack = stack
        self.spans: list[Span] = []
        self.recording = Recording(self.env, self.spans) if recorded else None
        self.cpu = simpy.PriorityResource(self.env)
        self.gpu = simpy.PriorityResource(self.env)
        self.cores = HostCores(self.env, chip.cpu_table.cores if chip.cpu_table else math.inf)
        if self.recording:
            self.cores.on_rates = self.recording.meter("cpu cores", "cores", self.cores.count).reads
        self._profiles = tuple(profiles)
        self._graphs = graphs
        self._dsp: PhoneDsp | None = None
        self._ddr: Ddr | None = None

    @property
    def dsp(self) -> PhoneDsp:
        """The DSP; raises HexsimError if the chip states none."""
        if self._dsp is None:
            # It loads the kernels, which the other engines do not need.
            from hexsim.simulation.phone_dsp import PhoneDsp

            self._dsp = PhoneDsp(self.chip, self.stack, self._profiles, self.ddr, self.spans)
            if self.recording:
                self._record(self.recording, self._dsp)
        return self._dsp

    def _record(self, recording: Recording, dsp: PhoneDsp) -> None:
        """Record what runs on each hardware thread and vector context."""
        threads = recording.places("hardware thread", dsp.core.rule.hardware_threads)
        dsp.core.on_placement = lambda running: threads.occupied_by(
            [thread.name if thread else None for thread in running]
        )
        contexts = recording.places("hvx context", dsp.contexts.count)
        dsp.contexts.on_change = contexts.occupied_by

    @property
    def ddr(self) -> Ddr:
        """The path to DDR of the DSP and the tensor engines, at the highest vote for the bus."""
        if self._ddr is None:
            memory, vote = self.chip.memory, max(profile.bus_vote for profile in self._profiles)
            bandwidth = memory.ddr_peak_bytes_per_s * memory.efficiency
            rule = DdrRule(
                bytes_per_second=bandwidth * vote,
                latency_s=memory.latency_s(vote),
                bytes_in_flight=memory.stream_bytes_in_flight,
            )
            self._ddr = Ddr(self.env, rule)
            if self.recording:
                meter = self.recording.meter(
                    "ddr", "B/s", rule.bytes_per_second, scale=PS_PER_SECOND
                )
                self._ddr.on_rates = meter.reads
        return self._ddr

    @cached_property
    def htp(self) -> TensorProcessor:
        """The tensor processor; raises HexsimError if the chip has none."""
        machine = HtpMachine.of(self.chip, self.stack)
        return TensorProcessor(self.env, self.ddr, machine, self.spans, self._graphs)

    @property
    def htp_call_s(self) -> float:
        """The seconds of a call from the CPU to the tensor processor; the quickest profile."""
        return min(self.stack.htp.call_s.of(profile) for profile in self._profiles)

    @cached_property
    def hta(self) -> TensorEngine:
        """The tensor engine, on the DSP's path to DDR; raises HexsimError if the chip has none."""
        hta = self.chip.hta
        rule = EngineRule(
            clock_hz=max(hta.clock_hz(profile.dsp_corner) for profile in self._profiles),
            layer_s=self.stack.partitioning.hta_layer_s,
        )
        return TensorEngine(self.env, self.ddr, hta, rule, self.spans)

    @property
    def dsp_traffic(self) -> Traffic:
        """Bytes that the DSP and the tensor engines have moved to and from DDR."""
        return self._ddr.moved if self._ddr else Traffic()
