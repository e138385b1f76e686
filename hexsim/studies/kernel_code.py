"""Compiled code on a chip: the clocks of its loops, what limits them, and how threads share a core.

The packets and waits are those of `hexsim.hvx.code`; threads, clusters and vector contexts are those
of `hexsim.qurt_threads`, with the constants of the chip. Data are taken to stream through the loop:
from VTCM, whose ports each context has for itself, through the L2 port, which all share, or from DDR
with a stream for each thread.

Left out: what the cache of scalar data misses, conflicts of banks of VTCM (not published), DMA and
the matrix engine.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.hvx.code.bounds import UNROLLS, LoopBounds
from hexsim.hvx.code.disassembly import Code, CodePacket, Function, read_code, written_packet
from hexsim.hvx.code.loops import CodeLoop, flattened, loops_of
from hexsim.hvx.code.timing import slots, steady, straight
from hexsim.hvx.instruction_set import CodeMachine
from hexsim.hvx.listing import loop_asm, pipes_of, slots_of
from hexsim.hvx.modulo import Loop
from hexsim.hvx.streams import Kernel
from hexsim.qurt_threads import IssueRule, Q6Core, SoftwareThread, VectorContexts
from hexsim.results import kernel as results
from hexsim.timing.memory import DdrRule
from hexsim.timing.simtime import PS_PER_SECOND, Environment, Process
from hexsim.timing.work import WorkItem

MOST_THREADS = 6
_ITERATIONS = 64
"""Iterations that each thread makes in the simulation of a core."""
_PRIORITY = 100
_BYTES = {"b": 1, "ub": 1, "h": 2, "uh": 2, "bh": 2, "ubh": 2, "w": 4, "d": 8}
_VECTOR_BYTES = 128
_MEMORY = re.compile(r"\b(v?)mem(u?)(b|ub|h|uh|bh|ubh|w|d)?(?:_\w+)?\(([^)]*)\)")


@dataclass(frozen=True)
class Core:
    """What a chip offers to the threads of a kernel."""

    version: int
    machine: CodeMachine
    rule: IssueRule
    contexts: int
    ddr: DdrRule

    @classmethod
    def of(cls, platform: Platform) -> "Core":
        """Return the core of a chip: its DSP, or the scalar and vector part of its tensor processor.

        Raises HexsimError if the chip's file states neither.
        """
        from hexsim.datasheets.chips import version

        chip, stack = platform.chip, platform.stack
        memory = chip.memory
        ddr = DdrRule(
            memory.ddr_peak_bytes_per_s * memory.efficiency,
            memory.dsp_latency_s,
            memory.stream_bytes_in_flight,
        )
        if chip.dsp_table is None and chip.htp_table is None:
            raise HexsimError(
                f"chip {chip.name}: its file states neither [dsp] nor [htp], so that nothing is "
                "known of its threads; give another chip"
            )
        if chip.dsp_table is None:
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
                scalar_multipliers=2 * htp.clusters,
                scalar_multipliers_shared=False,
                switch_clocks=0.0,
            )
            number = version(htp.arch)
            return cls(number, CodeMachine(number), rule, htp.hvx_contexts, ddr)
        dsp, hvx = chip.dsp, chip.dsp.hvx
        rule = IssueRule(
            clock_hz=stack.profile().dsp_clock_hz(dsp),
            hardware_threads=dsp.hardware_threads,
            clusters=dsp.clusters,
            multithreading=dsp.multithreading,
            clocks_per_packet=dsp.issue_clk_per_packet,
            lone_scalar_speedup=dsp.lone_thread_speedup,
            scalar_fed_stall=stack.kernels.stall_factor,
            l2_bytes_per_clock=dsp.l2_port_bytes_per_clk,
            scalar_multipliers=dsp.scalar_multipliers,
            scalar_multipliers_shared=dsp.scalar_multipliers_shared,
            switch_clocks=0.0,
        )
        number = version(dsp.arch)
        machine = CodeMachine(
            number,
            permute_pipes=hvx.permute_pipes,
            shift_pipes=hvx.shift_pipes,
            multiply_pipes=hvx.multiply_pipes,
            load_ports=hvx.load_ports,
            store_ports=hvx.store_ports,
        )
        return cls(number, machine, rule, hvx.contexts, ddr)

    def clocks(self, item: WorkItem, threads: int) -> float:
        """Return the clocks in which each of `threads` does `item` once."""
        running = min(threads, self.rule.hardware_threads)
        if item.vector:
            running = min(running, self.contexts)
        crowded = -(-running // self.rule.clusters)
        rule = replace(
            self.rule, clocks_per_packet=max(self.rule.clocks_per_packet, float(crowded))
        )
        env = Environment()
        core, contexts = Q6Core(env, rule), VectorContexts(env, self.contexts)

        def work(name: str) -> Process:
            if item.vector:
                yield contexts.lock(name, 1, _PRIORITY)
            yield core.run(SoftwareThread(name, _PRIORITY), item.times(_ITERATIONS))
            contexts.unlock(name)

        done = [env.process(work(str(number))) for number in range(threads)]
        env.run(env.all_of(done))
        return round(env.now * self.rule.clock_hz / PS_PER_SECOND) / _ITERATIONS


def code_kernel(
    path: str | Path,
    platform: Platform,
    function: str | None = None,
    trips: Mapping[str, int] | None = None,
    against: str | Path | None = None,
) -> results.Kernel:
    """Return the loops of an ELF file or of assembly on a chip.

    `function` selects one, `trips` gives iterations by the names of loops, `against` is another
    version of the file. Raises HexsimError if a file cannot be read, is for another version of the
    architecture, or has no such function or loop.
    """
    core = Core.of(platform)
    code = _of_version(read_code(path, core.version, function), platform)
    functions = list(_functions(code, core, dict(trips or {})))
    loops = tuple(loop for _, of_function in functions for loop in of_function)
    _known_loops(trips or {}, loops, code)
    answer = results.Kernel(
        kernel=code.name,
        chip=platform.chip.name,
        version=core.version,
        code_version=code.version,
        stack=platform.stack.name,
        clock_hz=core.rule.clock_hz,
        functions=tuple(described for described, _ in functions),
        loops=loops,
    )
    if against is None:
        return answer
    other = code_kernel(against, platform, function)
    return _replaced(answer, other.kernel, tuple(_changes(answer, other)))


def _replaced(
    answer: results.Kernel, against: str, changes: tuple[results.LoopChange, ...]
) -> results.Kernel:
    from msgspec.structs import replace as replaced

    return replaced(answer, against=against, changes=changes)


def _of_version(code: Code, platform: Platform) -> Code:
    chip_version = Core.of(platform).version
    if code.version > chip_version:
        raise HexsimError(
            f"{code.name} is code for V{code.version}, and {platform.chip.name} has V{chip_version}; "
            f"compile it with -mv{chip_version}, or give a later chip with {spelled('chip')}"
        )
    return code


def _known_loops(
    trips: Mapping[str, int], loops: Sequence[results.KernelLoop], code: Code
) -> None:
    names = [loop.name for loop in loops]
    for name, count in trips.items():
        if name not in names:
            if not names:
                raise HexsimError(f"{spelled('trips')} {name}: {code.name} has no loop")
            raise unknown(f"loop of {code.name}", name, names)
        if count < 0:
            raise HexsimError(f"{spelled('trips')} {name}={count}: give a number from 0 on")


def _functions(
    code: Code, core: Core, trips: Mapping[str, int]
) -> Iterator[tuple[results.CodeFunction, tuple[results.KernelLoop, ...]]]:
    for function in code.functions:
        found = loops_of(function)
        loops = tuple(
            described_loop(loop, core, depth, _with_trips(loop, trips))
            for depth, loop in flattened(found)
        )
        yield _function(function, found, core, trips), loops


def _with_trips(loop: CodeLoop, trips: Mapping[str, int]) -> tuple[int | None, int | None]:
    """Return the trips of a loop, and the slots of all its iterations if every loop's are known."""
    own = trips.get(loop.name, loop.trips)
    inner = [_with_trips(each, trips)[1] for each in loop.inner]
    if own is None or None in inner:
        return own, None
    iteration = slots(steady(loop.packets)) + sum(each or 0 for each in inner)
    return own, own * iteration


def _function(
    function: Function, loops: Sequence[CodeLoop], core: Core, trips: Mapping[str, int]
) -> results.CodeFunction:
    outside = [
        packet
        for packet in function.packets
        if not any(loop.start <= packet.address <= loop.end for loop in loops)
    ]
    own = slots(straight(outside)) * core.rule.slot_clocks
    totals = [_with_trips(loop, trips)[1] for loop in loops]
    known = None not in totals
    in_loops = sum(total or 0 for total in totals) * core.rule.slot_clocks
    return results.CodeFunction(
        name=function.name,
        packets=len(function.packets),
        straight_clocks=own,
        total_clocks=own + in_loops if known else None,
    )


def described_loop(
    loop: CodeLoop, core: Core, depth: int, trips: tuple[int | None, int | None]
) -> results.KernelLoop:
    """Return a loop as part of a document; `trips` are its iterations, and the slots of them all."""
    issues = steady(loop.packets)
    bounds = LoopBounds(core.machine, loop.packets, issues)
    per_slot = core.rule.slot_clocks
    read, written = _moved(loop.packets)
    machine = core.machine
    return results.KernelLoop(
        name=loop.name,
        function=loop.function,
        depth=depth,
        kind=loop.kind,
        packets_issued=len(loop.packets),
        stalls=bounds.slots - len(loop.packets),
        clocks=bounds.slots * per_slot,
        trips=trips[0],
        total_clocks=None if trips[1] is None else trips[1] * per_slot,
        resource_bound=bounds.resource_bound,
        recurrence_bound=bounds.recurrence,
        limit=bounds.limit,
        load_bytes=read,
        store_bytes=written,
        needs=tuple(
            results.Need(resource=name, packets=float(needed))
            for name, needed in bounds.needs.items()
        ),
        gains=tuple(_gains(bounds)),
        threads=tuple(_threads(loop, core, bounds, read + written)),
        remarks=tuple(_remarks(loop)),
        packets=tuple(
            results.LoopPacket(
                slots=slots_of([i.description.of_class for i in packet.instructions]),
                pipes=pipes_of(machine, [i.description.of_class for i in packet.instructions]),
                asm=packet.text,
                address=packet.address,
                clock=issue.slot * per_slot,
                stall=issue.stall,
                cause=issue.cause,
            )
            for packet, issue in zip(loop.packets, issues, strict=True)
        ),
    )


def stream_loops(kernels: Sequence[Kernel], platform: Platform) -> Iterator[results.KernelLoop]:
    """Yield the loops of our own kernels, from their listings, as if they were read from a file."""
    core = Core.of(platform)
    for kernel in kernels:
        for segment in kernel.tile:
            if isinstance(segment.code, Loop) and segment.times:
                packets = tuple(written_packet(text, core.version) for text in loop_asm(segment.code))
                name = f"{kernel.name}: {segment.name}"
                loop = CodeLoop(name, kernel.name, "hardware", 0, 0, packets)
                yield described_loop(loop, core, 0, (None, None))


def _gains(bounds: LoopBounds) -> Iterator[results.Gain]:
    yield results.Gain(
        change="overlap iterations",
        slots=float(bounds.bound),
        faster=bounds.slots / bounds.bound,
    )
    for copies in UNROLLS:
        unrolled = bounds.unrolled(copies)
        if unrolled is not None:
            at_most = min(float(unrolled), float(bounds.slots))
            yield results.Gain(
                change=f"unroll by {copies}", slots=at_most, faster=bounds.slots / at_most
            )


def _moved(packets: Sequence[CodePacket]) -> tuple[int, int]:
    """Return the bytes that an iteration reads and writes."""
    read = written = 0
    for instruction in (i for packet in packets for i in packet.instructions):
        text = instruction.text
        if "vgather" in text:
            read += _VECTOR_BYTES
        elif "vscatter" in text:
            written += _VECTOR_BYTES
        for match in _MEMORY.finditer(text):
            size = _VECTOR_BYTES if match[1] or text.startswith("z ") else _BYTES.get(
                match[2] + (match[3] or ""), 0
            )
            if re.search(r"=\s*$", text[: match.start()]):
                read += size
            else:
                written += size
    return read, written


def _threads(
    loop: CodeLoop, core: Core, bounds: LoopBounds, moved: int
) -> Iterator[results.ThreadRate]:
    classes = [i.description.of_class for packet in loop.packets for i in packet.instructions]
    item = WorkItem(
        len(loop.packets),
        bounds.slots - len(loop.packets),
        scalar_fed=len(loop.packets) if _is_scalar_fed(loop.packets) else 0,
        vector=any(of_class.pipes or of_class.port for of_class in classes),
    )
    for threads in range(1, MOST_THREADS + 1):
        clocks = core.clocks(item, threads)
        in_l2 = core.clocks(replace(item, l2_bytes=moved), threads) if moved else clocks
        running = min(threads, core.rule.hardware_threads)
        running = min(running, core.contexts) if item.vector else running
        per_clock = core.ddr.rate_of(running) / core.rule.clock_hz
        in_ddr = max(in_l2, threads * moved / per_clock)
        yield results.ThreadRate(
            threads=threads,
            contexts=running if item.vector else 0,
            clocks=clocks,
            l2_clocks=in_l2,
            ddr_clocks=in_ddr,
            memory=next(
                (name for name, with_it in (("DDR", in_ddr), ("L2", in_l2)) if with_it <= clocks * 1.001),
                "VTCM",
            ),
            bytes_per_clock=threads * moved / clocks,
        )


def _is_scalar_fed(packets: Sequence[CodePacket]) -> bool:
    """Return whether vector multiplies take operands that scalar loads of the loop bring."""
    instructions = [i for packet in packets for i in packet.instructions]
    loaded = {
        name
        for i in instructions
        if re.search(r"= mem\w", i.text)
        for register in i.registers
        if register.writes is not None
        for name in register.names
        if name.startswith("r")
    }
    return any(
        name in loaded
        for i in instructions
        if i.description.of_class.pipes and i.description.of_class.pipes[0].multiply
        for register in i.registers
        if register.reads is not None
        for name in register.names
    )


def _remarks(loop: CodeLoop) -> Iterator[str]:
    texts = [i.text for packet in loop.packets for i in packet.instructions]
    if loop.skips:
        yield f"{loop.skips} conditional jumps inside: the clocks are of the path that takes none"
    if loop.calls:
        yield f"{loop.calls} calls inside, whose clocks are not counted"
    if loop.inner:
        yield f"{len(loop.inner)} inner loops, whose packets are not among these"
    if any("vgather" in text or "vscatter" in text for text in texts):
        yield (
            "gathers and scatters are taken to issue as loads and stores; their time in VTCM, 24 to "
            "48 packets for a gather in one measurement, is not counted"
        )
    if any("vmemu" in text for text in texts):
        yield "unaligned vector accesses: one that crosses a vector takes its port twice"
    if _is_scalar_fed(loop.packets):
        yield "multiplies take operands from scalar loads, which sometimes wait for the L1 cache"
    yield from _aliases(loop.packets)


def _aliases(packets: Sequence[CodePacket]) -> Iterator[str]:
    """Yield a remark on each load from the address of a store shortly before it."""
    stored: dict[str, tuple[int, str]] = {}
    for number, packet in enumerate(packets):
        for instruction in packet.instructions:
            for match in _MEMORY.finditer(instruction.text):
                is_load = re.search(r"=\s*$", instruction.text[: match.start()])
                if is_load and match[4] in stored:
                    before, text = stored[match[4]]
                    yield (
                        f"{instruction.text} reads what {text} wrote {number - before} packets "
                        "before; a load that meets a store in flight waits for it, which is not "
                        "counted"
                    )
                elif not is_load and "++" not in match[4]:
                    stored[match[4]] = (number, instruction.text)
        changed = {
            name
            for instruction in packet.instructions
            for register in instruction.registers
            if register.writes is not None
            for name in register.names
        }
        stored = {
            address: store
            for address, store in stored.items()
            if not changed & set(re.findall(r"r\d+", address))
        }


def _changes(here: results.Kernel, there: results.Kernel) -> Iterator[results.LoopChange]:
    """Yield the loops of both, matched by function and place in it."""
    others: dict[str, list[results.KernelLoop]] = {}
    for loop in there.loops:
        others.setdefault(loop.function, []).append(loop)
    for loop in here.loops:
        rest = others.get(loop.function, [])
        other = rest.pop(0) if rest else None
        yield results.LoopChange(
            name=loop.name,
            other=other and other.name,
            clocks=loop.clocks,
            other_clocks=other and other.clocks,
            bytes_per_clock=_per_clock(loop),
            other_bytes_per_clock=None if other is None else _per_clock(other),
        )


def _per_clock(loop: results.KernelLoop) -> float:
    return (loop.load_bytes + loop.store_bytes) / loop.clocks
