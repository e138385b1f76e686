"""The DSP of a simulated phone: its hardware threads, vector contexts and path to DDR.

The clock is that of the highest vote among the jobs of a workload. There is one vector worker per
context, up to the number that the stack's library starts.
"""

from __future__ import annotations

from collections.abc import Iterable

from hexsim.datasheets.background import Client
from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Profile, Stack
from hexsim.hvx.kernels import Target
from hexsim.q6_scheduler import DispatchRule, GraphSession
from hexsim.qurt_threads import IssueRule, Q6Core, VectorContexts
from hexsim.simulation.background_clients import ClientSession
from hexsim.timing.memory import Ddr
from hexsim.timing.results import Span


class PhoneDsp:
    """Hardware threads, vector contexts and the path to DDR at the clocks that were voted for."""

    def __init__(
        self,
        phone_chip: Chip,
        stack: Stack,
        profiles: Iterable[Profile],
        ddr: Ddr,
        spans: list[Span],
    ) -> None:
        chip = phone_chip.dsp
        self.clock_hz = max(profile.dsp_clock_hz(chip) for profile in profiles)
        self.core = Q6Core(
            ddr.env,
            IssueRule(
                clock_hz=self.clock_hz,
                hardware_threads=chip.hardware_threads,
                clusters=chip.clusters,
                multithreading=chip.multithreading,
                clocks_per_packet=chip.issue_clk_per_packet,
                lone_scalar_speedup=chip.lone_thread_speedup,
                scalar_fed_stall=stack.kernels.stall_factor,
                l2_bytes_per_clock=chip.l2_port_bytes_per_clk,
                scalar_multipliers=chip.scalar_multipliers,
                scalar_multipliers_shared=chip.scalar_multipliers_shared,
                switch_clocks=stack.qurt.context_switch_clk,
            ),
        )
        self.ddr = ddr
        self._spans = spans
        hvx = chip.hvx
        self.peak_macs_per_packet = hvx.int8_macs_per_clk * chip.issue_clk_per_packet / hvx.contexts
        self.contexts = VectorContexts(ddr.env, hvx.contexts)
        self.target = Target.of(phone_chip, stack)
        self.rule = DispatchRule(
            node_clocks=stack.dispatch.node_clk,
            hand_off_clocks=stack.dispatch.hand_off_clk,
            wake_clocks=stack.qurt.wake_clk,
            fast_path_packets=stack.qurt.fast_path_packets,
            workers=self.target.workers,
            copy_bytes_per_s=chip.copy_bytes_per_clk * self.clock_hz,
        )

    def session(self, name: str, urgency: int) -> GraphSession:
        """Return a graph's threads; a negative `urgency` raises their QuRT priorities."""
        return GraphSession(
            self.core, self.ddr, self.contexts, self.rule, name, urgency, self._spans
        )

    def client(self, name: str, client: Client) -> ClientSession:
        """Return a background client; HexsimError if the DSP lacks the contexts it locks."""
        return ClientSession(
            self.core, self.ddr, self.contexts, self.rule.wake_clocks, name, client, self._spans
        )
