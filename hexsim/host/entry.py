"""Entering the DSP: the named parts of one call, before and after the graph runs.

A call wakes the CPU if it is asleep, cleans caches, passes buffers to FastRPC, crosses to the DSP,
wakes it and the tensor engine if they are asleep, and quantises float buffers; the return is the
reverse. Each part has a name and its own constants in the stack file, so that a report can show
its time.

The round trip of FastRPC depends on how long the DSP computes, because the CPU sleeps meanwhile.
Half of the shortest round trip is charged before the graph, the rest after it.

Left out: retries, contention of FastRPC, the delay of a clock change after a vote.

Sources: Hexagon SDK 3.5.4, FastRPC latency and QoS pages; DSP User Guide 80-VB419-108 page 21.
"""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import BufferConversion, BufferType, Profile, Rpc, SleepStates, Stack
from hexsim.graph.ir import Shape
from hexsim.planning.plan import JoinedSubnets
from hexsim.records import dataclass
from hexsim.timing.results import Scope

Place = Literal["host", "link", "dsp_scalar", "hvx"]

_FLOAT_BYTES = 4
_RPC_JOB_S = (100e-6, 1.2e-3, 11e-3)
"""Lengths of the DSP jobs for which a stack states the round trip of FastRPC."""


@dataclass(frozen=True)
class EntryPart:
    """One part: `seconds` of a core on the host or of waiting for the link, or `clocks` of a single
    thread of the DSP. `scope` says what the time belongs to."""

    name: str
    place: Place
    scope: Scope
    seconds: float = 0.0
    clocks: float = 0.0


@dataclass(frozen=True)
class Call:
    """One call into the DSP, after `idle_s` seconds without a call."""

    joined: JoinedSubnets
    chip: Chip
    stack: Stack
    profile: Profile
    buffer: BufferType
    idle_s: float

    @property
    def input_elements(self) -> int:
        """Elements of all inputs that are floats on the application's side."""
        return self._converted(self.joined.inputs, self.joined.input_shapes)

    @property
    def output_elements(self) -> int:
        """Elements of all outputs that are floats on the application's side."""
        return self._converted(self.joined.outputs, self.joined.output_shapes)

    @cached_property
    def buffer_bytes(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Bytes of the buffers that cross to the DSP, and of those that cross back, by name."""
        return crossing_bytes(self.joined, self.stack, self.buffer)

    @property
    def mapped_buffers(self) -> int:
        """Number of buffers that are large enough to be mapped for the call."""
        least = self.stack.entry.mapped_from_bytes
        return sum(size >= least for side in self.buffer_bytes for size in side.values())

    def _converted(self, names: tuple[str, ...], shapes: tuple[Shape, ...]) -> int:
        named = zip(names, shapes, strict=True)
        return sum(math.prod(s) for name, s in named if name not in self.joined.as_codes)


def crossing_bytes(
    joined: JoinedSubnets, stack: Stack, buffer: BufferType
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the bytes of the buffer of each input and of each output of a call, by name.

    They are floats if the DSP converts them, else quantised.
    """

    def sizes(
        names: tuple[str, ...], shapes: tuple[Shape, ...], conversion: BufferConversion
    ) -> Mapping[str, int]:
        is_float = buffer == "float" and conversion.engine != "cpu"
        floats = {*names} - joined.as_codes if is_float else ()
        return {
            name: math.prod(shape) * (_FLOAT_BYTES if name in floats else joined.bits[name] // 8)
            for name, shape in zip(names, shapes, strict=True)
        }

    inputs = sizes(joined.inputs, joined.input_shapes, stack.entry.input_conversion)
    return inputs, sizes(joined.outputs, joined.output_shapes, stack.entry.output_conversion)


def converts_inputs_on_dsp(stack: Stack, buffer: BufferType) -> bool:
    """Tell whether the DSP receives floats and quantises them."""
    return buffer == "float" and stack.entry.input_conversion.engine != "cpu"


def empty_call_s(chip: Chip, stack: Stack, profile: Profile) -> float:
    """Return the seconds of a call without buffers that runs nothing, with all parts awake."""
    start_s = stack.dispatch.inference_clk / chip.dsp.clock_hz(profile.dsp_corner)
    return stack.entry.rpc.of(profile).job_100us_s + start_s


def parts_before_graph(call: Call) -> list[EntryPart]:
    """Return the parts before the graph runs, in order, without those that take no time."""
    entry = call.stack.entry
    size = sum(call.buffer_bytes[0].values())
    parts = [
        _on_link("cpu_wake", _wake(entry.cpu_wake, call), "runtime"),
        *_conversion("input_conversion", entry.input_conversion, call, call.input_elements, "cpu"),
        _on_host("cache_flush", 0.0 if _is_coherent(call) else size * entry.cache_s_per_byte),
        _on_host("buffers", call.mapped_buffers * entry.buffer_s + size * entry.buffer_s_per_byte),
        _on_link("rpc_invoke", call.stack.entry.rpc.of(call.profile).job_100us_s / 2),
        _on_link("dsp_wake", _collapsed(entry.dsp_wake, call)),
        _on_link("hta_wake", _collapsed(entry.hta_wake, call) if call.joined.uses_hta else 0.0),
        EntryPart("graph_start", "dsp_scalar", "graph", clocks=call.stack.dispatch.inference_clk),
        *_conversion("input_conversion", entry.input_conversion, call, call.input_elements, "dsp"),
    ]
    return [part for part in parts if part.seconds or part.clocks]


def parts_on_dsp_after_graph(call: Call) -> list[EntryPart]:
    """Return the parts that the DSP adds after the graph."""
    conversion = call.stack.entry.output_conversion
    return _conversion("output_conversion", conversion, call, call.output_elements, "dsp")


def parts_after_dsp(call: Call, dsp_s: float) -> list[EntryPart]:
    """Return the parts after the DSP, which was busy for `dsp_s`."""
    entry = call.stack.entry
    size = sum(call.buffer_bytes[1].values())
    rpc = call.stack.entry.rpc.of(call.profile)
    parts = [
        # Round trips are separate constants, so the difference may be negative in a user's stack.
        _on_link("rpc_return", max(0.0, _round_trip(rpc, dsp_s) - rpc.job_100us_s / 2)),
        _on_host("cache_invalidate", size * entry.cache_s_per_byte),
        *_conversion(
            "output_conversion", entry.output_conversion, call, call.output_elements, "cpu"
        ),
    ]
    return [part for part in parts if part.seconds or part.clocks]


def _on_host(name: str, seconds: float, scope: Scope = "rpc") -> EntryPart:
    return EntryPart(name, "host", scope, seconds=seconds)


def _on_link(name: str, seconds: float, scope: Scope = "rpc") -> EntryPart:
    return EntryPart(name, "link", scope, seconds=seconds)


def _is_coherent(call: Call) -> bool:
    """Tell whether the DSP sees the caches of the CPU, so that inputs need no flush."""
    return call.chip.memory.io_coherence == "one_way"


def _wake(part: SleepStates, call: Call) -> float:
    return part.wake_s(call.idle_s - call.profile.hold_s)


def _collapsed(part: SleepStates, call: Call) -> float:
    """Return the time to wake a part that loses power when idle, if the stack allows that."""
    return _wake(part, call) if call.stack.entry.power_collapse else 0.0


def _conversion(
    name: str, conversion: BufferConversion, call: Call, elements: int, side: Literal["cpu", "dsp"]
) -> list[EntryPart]:
    """Return the conversion of float buffers if it runs on this side of the link."""
    if call.buffer != "float" or (conversion.engine == "cpu") != (side == "cpu"):
        return []
    clocks = elements * conversion.clk_per_element
    if conversion.engine == "cpu":
        return [_on_host(name, clocks / call.chip.cpu.clock_hz, "runtime")]
    return [EntryPart(name, conversion.engine, "executor", clocks=clocks)]


def _round_trip(rpc: Rpc, dsp_s: float) -> float:
    """Interpolate between the three measured jobs, in the logarithm of their length."""
    lengths = [math.log(length) for length in _RPC_JOB_S]
    times = [rpc.job_100us_s, rpc.job_1200us_s, rpc.job_11ms_s]
    return float(np.interp(math.log(max(dsp_s, _RPC_JOB_S[0])), lengths, times))
