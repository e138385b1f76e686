"""A program that is run: clocks of what it executed, on one to six threads, from L2 and DDR.

Each thread runs the program with data of its own, and has its part of L2. Bytes from DDR take the
time that streams of the threads need for them, beside the packets (the larger of both counts, as in
the table of a loop).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hexsim.errors import HexsimError, spelled
from hexsim.hvx.code.disassembly import Code
from hexsim.hvx.code.emulation import Emulation
from hexsim.hvx.code.execution import LINE_BYTES, Cache, Execution
from hexsim.hvx.code.loops import CodeLoop, flattened, loops_of
from hexsim.hvx.code.traffic import is_scalar_fed, uses_vectors
from hexsim.records import dataclass, replace
from hexsim.results import kernel as results
from hexsim.studies.kernel_threads import MOST_THREADS, Core
from hexsim.timing.work import WorkItem

_PACKET_BYTES = 16
_PRINTED = 2000
"""Characters of what a program prints that are kept."""


@dataclass(frozen=True)
class ProgramRun:
    """A program of a file of code that has been run on a core."""

    code: Code
    core: Core
    emulation: Emulation
    execution: Execution

    @classmethod
    def of(
        cls, code: Code, path: Path, arguments: Sequence[str], core: Core, function: str | None
    ) -> "ProgramRun":
        """Run a program, with a `function` counting its packets alone.

        Raises HexsimError if it cannot be run, or executes none of these packets.
        """
        if isinstance(arguments, str) or not all(
            isinstance(word, str) and "\0" not in word for word in arguments
        ):
            raise HexsimError(f"{spelled('run')} is a list of words, the arguments of the program")
        addresses = [packet.address for each in code.functions for packet in each.packets]
        bounds = (min(addresses), max(addresses) + _PACKET_BYTES) if function else None
        lines = core.l2_bytes // LINE_BYTES
        execution = Execution(
            {packet.address: packet for each in code.functions for packet in each.packets},
            [Cache(lines // threads) for threads in range(1, MOST_THREADS + 1)],
            code.vtcm,
        )
        emulation = Emulation(path, tuple(arguments), bounds)
        execution.follow(emulation.packets())
        if not execution.runs:
            raise HexsimError(
                f"{code.name} ran, but executed no packet of {function or 'its functions'}; give "
                "arguments with which it does"
            )
        return cls(code, core, emulation, execution)

    def trips(self, loop: CodeLoop) -> tuple[int, int]:
        """Return the iterations of a loop and the slots of them all."""
        within = [at for at in self.execution.packets if loop.start <= at <= loop.end]
        begins_alone = all(each.start > loop.start for each in loop.inner)
        counted = loop.start if begins_alone else loop.end
        return self.execution.runs[counted], self.slots(within)

    def slots(self, addresses: Sequence[int]) -> int:
        """Return the slots of all executions of packets, stalls included."""
        runs, stalls = self.execution.runs, self.execution.stalls
        return sum(runs[at] + stalls[at] for at in addresses)

    def described(self) -> results.Run:
        """Return the part of a document."""
        execution = self.execution
        return results.Run(
            arguments=tuple(self.emulation.arguments),
            packets=execution.runs.total(),
            stalls=execution.stalls.total(),
            l2_bytes=execution.l2_bytes,
            vtcm_bytes=execution.vtcm_bytes,
            rates=tuple(self._rates()),
            printed=self.emulation.printed[:_PRINTED],
            remarks=tuple(self._remarks()),
        )

    def _rates(self) -> Iterator[results.RunRate]:
        execution, core = self.execution, self.core
        used = [packet for at, packet in execution.packets.items() if execution.runs[at]]
        fed = (
            execution.runs[packet.address]
            for function in self.code.functions
            for _, loop in flattened(loops_of(function))
            if is_scalar_fed(loop.packets)
            for packet in loop.packets
        )
        item = WorkItem(
            execution.runs.total(),
            execution.stalls.total(),
            scalar_fed=sum(fed),
            l2_bytes=execution.l2_bytes,
            vector=uses_vectors(used),
        )
        for threads, cache in enumerate(execution.caches, 1):
            issue = core.clocks(replace(item, l2_bytes=0), threads)
            through_l2 = core.clocks(item, threads)
            ddr_bytes = (cache.misses + cache.written_back) * LINE_BYTES
            from_ddr = core.ddr_clocks(item, threads, ddr_bytes)
            clocks = max(through_l2, from_ddr)
            hits = cache.hits + execution.repeated
            yield results.RunRate(
                threads=threads,
                contexts=core.running(item, threads) if item.vector else 0,
                clocks=clocks,
                l2_hits=hits / max(1, hits + cache.misses),
                ddr_bytes=ddr_bytes,
                limit="DDR" if clocks > through_l2 else "L2" if clocks > issue else "issue",
            )

    def _remarks(self) -> Iterator[str]:
        status, stopped, execution = self.emulation.status, self.emulation.stopped, self.execution
        if stopped:
            yield f"stopped after {stopped}"
        elif status:
            yield f"it ended with status {status}"
        yield from self.emulation.remarks
        if execution.threads > 1:
            yield f"it has {execution.threads} threads of its own, whose packets are added up here"
        if execution.outside:
            yield f"{execution.outside} packets of other files and unknown code are not counted"
        if execution.vtcm_scalars:
            yield f"{execution.vtcm_scalars} scalar accesses of VTCM, whose waits are not counted"
        if execution.unresolved:
            yield f"{execution.unresolved} accesses have addresses that are not known"
