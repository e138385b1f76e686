"""The simulated phone: a chip under a stack with a performance profile, as simpy resources.

The bus follows the highest vote among the jobs of a workload.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
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
from hexsim.records import dataclass
from hexsim.simulation.recording import Recording
from hexsim.timing.memory import Ddr, DdrRule, Traffic
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.results import Span
from hexsim.timing.simtime import Environment

if TYPE_CHECKING:
    from hexsim.simulation.phone_dsp import PhoneDsp


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

            self._dsp = PhoneDsp(
                self.chip, self.stack, self._profiles, self.ddr, self.spans, self.recording
            )
        return self._dsp

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
