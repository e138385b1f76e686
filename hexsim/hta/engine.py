"""The tensor engine in time: DMA and array execute a command list.

Commands of a list run in order. The DMA fetches the operands of the next command while the array
works on this one (two buffers), across layers too, unless it has to wait for results that are not
yet in DDR. At the start of each layer the controller takes time to start it.

Lists of several inferences share the array and both directions of the DMA command by command, the
most urgent inference first. The start of a layer occupies neither, so another list works meanwhile:
two, three and four instances of Inception v3 make 193, 227 and 260 inferences a second on sd865
(energy.csv), of which a single one takes 9 ms, 4 ms of them for the starts of layers (inferred).

Left out: the local memory that lists take from each other, interrupts of the command processor
other than the last one.

Of a fully connected layer every row is an execution of its own. QNN 2.45 needs 637 ms for 1024 rows
on a Snapdragon 865, or 0.62 ms a row, while a whole call for one row with almost no arithmetic
takes 0.54 ms. So each row is taken as a call (inferred): the way to the DSP and back, the start of
the graph, the hand-over to the engine and the start of the layer.
"""

from collections.abc import Callable, Iterable, Mapping

import simpy

from hexsim.datasheets.chips import Chip, Hta
from hexsim.datasheets.stacks import Profile, Stack
from hexsim.host.entry import empty_call_s
from hexsim.hta.array import MacArray
from hexsim.hta.command_list import Command, CommandList, LayerCommands
from hexsim.layers import FullyConnected
from hexsim.planning.plan import KernelCall
from hexsim.records import dataclass
from hexsim.timing.memory import Ddr
from hexsim.timing.picoseconds import PS_PER_SECOND, seconds_to_ps
from hexsim.timing.results import Bound, Span
from hexsim.timing.simtime import Activity, Environment, Moment, Process

_BUFFERS = 2
"""Tiles on chip at a time (assumed, as in the compiler)."""
ARRAY, FETCH, WRITE_BACK = "hta array", "hta fetch", "hta write-back"
"""Names of the engine's tracks."""


@dataclass
class LayerRun:
    """When a layer ran, and the times of its array, of starting it and decoding its commands, and
    of waiting while the array works for other lists (picoseconds).

    The rest of its time is waiting for the DMA: for operands, or at the end for the last results.
    """

    part: LayerCommands
    start_ps: int
    end_ps: int = 0
    busy_ps: int = 0
    command_ps: int = 0
    others_ps: int = 0

    @property
    def parts_ps(self) -> Mapping[Bound, float]:
        """Its duration, divided."""
        waiting = self.end_ps - self.start_ps - self.busy_ps - self.command_ps - self.others_ps
        parts: dict[Bound, float] = {
            "compute": self.busy_ps,
            "ddr": waiting,
            "overhead": self.command_ps,
        }
        return parts | {"preemption": self.others_ps} if self.others_ps else parts


@dataclass(frozen=True)
class EngineRule:
    """The voted clock, and the time in which the controller starts a layer."""

    clock_hz: float
    layer_s: float


class TensorEngine:
    """The engine of one chip; `ddr` is the path to memory that it shares."""

    def __init__(
        self, env: Environment, ddr: Ddr, hta: Hta, rule: EngineRule, spans: list[Span]
    ) -> None:
        self._env = env
        self._ddr = ddr
        self._spans = spans
        self._array = simpy.PriorityResource(env)
        self._channels = {name: simpy.PriorityResource(env) for name in (FETCH, WRITE_BACK)}
        self._ps_per_clock = PS_PER_SECOND / rule.clock_hz
        self._macs_per_clock = MacArray.of(hta).macs_per_clk
        self._command_clocks = hta.command_clk
        self._sequencing_ps = seconds_to_ps(rule.layer_s)
        self.bytes_per_s = hta.ddr_port_bytes_per_clk * rule.clock_hz
        self.clock_hz = rule.clock_hz

    def macs_in(self, duration_ps: int) -> float:
        """Return the multiply-accumulates that the array could do in a duration."""
        return duration_ps / self._ps_per_clock * self._macs_per_clock

    def run(
        self, command_list: CommandList, done: Callable[[LayerRun], None], urgency: int = 0
    ) -> Process:
        """Run a list, before the lists of larger `urgency`; `done` is called with each layer when
        it ends."""
        steps = [
            (number, command)
            for number, part in enumerate(command_list.layers)
            for command in part.commands
        ]
        env = self._env
        arrived, freed = ([Moment(env) for _ in steps] for _ in range(2))
        unwritten = [len(part.commands) for part in command_list.layers]
        written = [Moment(env) for _ in command_list.layers]
        names = command_list.names
        for number, count in enumerate(unwritten):
            if not count:
                written[number].happen()

        def fetch() -> Process:
            for at, (number, command) in enumerate(steps):
                if at >= _BUFFERS:
                    yield freed[at - _BUFFERS]
                if command.after_layer >= 0:
                    yield written[command.after_layer]
                yield from self._move(FETCH, names[number], command.read_bytes, urgency)
                arrived[at].happen()

        def write_back() -> Process:
            for at, (number, command) in enumerate(steps):
                yield freed[at]
                yield from self._move(WRITE_BACK, names[number], command.write_bytes, urgency)
                unwritten[number] -= 1
                if not unwritten[number]:
                    written[number].happen()

        Activity(env, fetch())
        writer = Activity(env, write_back())
        at, last = 0, len(command_list.layers) - 1
        for number, part in enumerate(command_list.layers):
            layer = LayerRun(part, env.now)
            if part.commands:
                yield env.timeout(self._sequencing_ps)
                layer.command_ps += self._sequencing_ps
            for command in part.commands:
                yield arrived[at]
                yield from self._compute(command, layer, urgency)
                freed[at].happen()
                at += 1
            if number == last:
                yield writer
            layer.end_ps = env.now
            done(layer)

    def _compute(self, command: Command, layer: LayerRun, urgency: int) -> Process:
        """Let the array execute a command of a layer, when no other list uses it."""
        asked = self._env.now
        with self._array.request(priority=urgency) as turn:
            yield turn
            start = self._env.now
            layer.others_ps += start - asked
            decoding_ps = round(self._command_clocks * self._ps_per_clock)
            working_ps = round(command.clocks * self._ps_per_clock)
            yield self._env.timeout(decoding_ps + working_ps)
        layer.command_ps += decoding_ps
        layer.busy_ps += working_ps
        self._record(ARRAY, layer.part.layer, start)

    def _move(self, track: str, name: str, size: int, urgency: int) -> Process:
        """Move bytes in one direction, when no other list does."""
        if not size:
            return
        with self._channels[track].request(priority=urgency) as turn:
            yield turn
            start = self._env.now
            ask = self._ddr.read if track == FETCH else self._ddr.write
            yield ask(size, self.bytes_per_s)
        self._record(track, name, start)

    def _record(self, track: str, name: str, start: int) -> None:
        if self._env.now > start:
            self._spans.append(Span(track, name, start, self._env.now))


def further_rows_s(
    calls: Iterable[KernelCall], chip: Chip, stack: Stack, profile: Profile
) -> float:
    """Return the seconds of a subnet's executions after the first; zero if rows run together."""
    rules = stack.partitioning
    if rules.hta_rows == "together":
        return 0.0
    rows = max((c.operands[0][0] for c in calls if isinstance(c.layer, FullyConnected)), default=1)
    execution_s = empty_call_s(chip, stack, profile) + rules.hta_subnet_s + rules.hta_layer_s
    return (rows - 1) * execution_s
