"""Threads with the same loop on one core: clusters, vector contexts, the L2 port and DDR."""

from hexsim.datasheets.chips import Chip, version
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.hvx.isa import CodeMachine
from hexsim.qurt_threads import IssueRule, Q6Core, SoftwareThread, VectorContexts
from hexsim.records import dataclass, replace
from hexsim.simulation.phone import Phone
from hexsim.timing.memory import DdrRule
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.simtime import Environment, Process
from hexsim.timing.work import WorkItem

MOST_THREADS = 6
_ITERATIONS = 64
"""Iterations that each thread makes in the simulation of a core."""
_PRIORITY = 100
_MULTIPLIERS = 2
"""Scalar multipliers of a cluster of the tensor processor, as of V66 (assumed)."""


@dataclass(frozen=True)
class Core:
    """What a chip offers to the threads of a kernel."""

    version: int
    machine: CodeMachine
    rule: IssueRule
    contexts: int
    ddr: DdrRule
    l2_bytes: int

    @classmethod
    def of(cls, platform: Platform) -> "Core":
        """Return the core of a chip: its DSP, or the threads and HVX of its tensor processor.

        Raises HexsimError if the chip's file states neither.
        """
        chip, stack = platform.chip, platform.stack
        phone = Phone(chip, stack, [stack.profile()])
        if chip.dsp_table is None:
            rule, number, contexts = _tensor_processor(chip)
            machine = CodeMachine(number)
            ddr, htp = phone.ddr.rule, chip.htp
            loads = DdrRule(
                min(ddr.bytes_per_second, htp.hvx_ddr_bytes_per_s),
                ddr.latency_s,
                htp.stream_bytes_per_s * ddr.latency_s,
            )
            return cls(number, machine, rule, contexts, loads, htp.l2_bytes)
        number, hvx = version(chip.dsp.arch), chip.dsp.hvx
        machine = CodeMachine(
            number,
            permute_pipes=hvx.permute_pipes,
            shift_pipes=hvx.shift_pipes,
            multiply_pipes=hvx.multiply_pipes,
            load_ports=hvx.load_ports,
            store_ports=hvx.store_ports,
        )
        rule = replace(phone.dsp.core.rule, switch_clocks=0.0)
        l2_bytes = chip.dsp.l2_bytes - chip.dsp.l2_audio_bytes
        return cls(number, machine, rule, hvx.contexts, phone.ddr.rule, l2_bytes)

    def running(self, item: WorkItem, threads: int) -> int:
        """Return how many of `threads` issue at a time."""
        return min(threads, self.rule.hardware_threads, self.contexts if item.vector else threads)

    def ddr_clocks(self, item: WorkItem, threads: int, moved: int) -> float:
        """Return the clocks for `moved` bytes from and to DDR of each of `threads`."""
        per_second = self.ddr.rate_of(self.running(item, threads))
        return threads * moved * self.rule.clock_hz / per_second

    def clocks(self, item: WorkItem, threads: int) -> float:
        """Return the clocks in which each of `threads` does `item` once.

        A cluster issues one packet per clock, however many threads it has.
        """
        crowded = -(-self.running(item, threads) // self.rule.clusters)
        clocks_per_packet = max(self.rule.clocks_per_packet, crowded)
        env = Environment()
        core = Q6Core(env, replace(self.rule, clocks_per_packet=clocks_per_packet))
        contexts = VectorContexts(env, self.contexts)

        def work(name: str) -> Process:
            if item.vector:
                yield contexts.lock(name, 1, _PRIORITY)
            yield core.run(SoftwareThread(name, _PRIORITY), item.times(_ITERATIONS))
            contexts.unlock(name)

        env.run(env.all_of([env.process(work(str(number))) for number in range(threads)]))
        return round(env.now * self.rule.clock_hz / PS_PER_SECOND) / _ITERATIONS


def _tensor_processor(chip: Chip) -> tuple[IssueRule, int, int]:
    """Return the issue rule, the version and the vector contexts of a tensor processor."""
    if chip.htp_table is None:
        raise HexsimError(
            f"chip {chip.name}: its file states neither [dsp] nor [htp], so that nothing is known "
            "of its threads; give another chip"
        )
    htp = chip.htp
    rule = IssueRule(
        clock_hz=htp.clock_hz,
        hardware_threads=htp.hardware_threads,
        clusters=htp.clusters,
        multithreading="dynamic",
        clocks_per_packet=htp.issue_clk_per_packet,
        lone_scalar_speedup=1.0,
        scalar_fed_stall=1.0,
        l2_bytes_per_clock=htp.l2_port_bytes_per_clk,
        scalar_multipliers=_MULTIPLIERS * htp.clusters,
        scalar_multipliers_shared=False,
        switch_clocks=0.0,
    )
    return rule, version(htp.arch), htp.hvx_contexts
