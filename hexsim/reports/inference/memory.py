"""The memory of an inference as text and as data, the same in all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.reports.inference.energy import ranged
from hexsim.texts.figures import figure, size, span

if TYPE_CHECKING:
    from hexsim.datasheets.estimate import Estimate
    from hexsim.memory import Footprint
    from hexsim.planning.prepared import PreparedGraph
    from hexsim.results.costs import MemoryUse, Range

_PARTS = {
    "weight_bytes": "weights",
    "packed_bytes": "packed weights",
    "activation_bytes": "activations",
    "scratch_bytes": "scratch",
    "handed_bytes": "handed to the DSP and back",
    "application_bytes": "buffers of the application",
}


def memory_parts(memory: Footprint | MemoryUse) -> str:
    """Return the parts of the peak."""
    parts = {name: getattr(memory, part) for part, name in _PARTS.items()}
    return ", ".join(f"{name} {size(part)}" for name, part in parts.items() if part)


def mebibytes(count: Estimate | Range) -> str:
    """Return a number of bytes in MiB with its bounds: `39.7 (21.0 .. 71.0)`."""
    value, low, high = (end * 2**-20 for end in (count.value, count.low, count.high))
    return f"{figure(value)} ({span(low, high)})"


def prepared_lines(prepared: PreparedGraph) -> str:
    """Return what preparing a graph takes, each figure with its bounds."""
    return (
        f"context binary: {mebibytes(prepared.binary_bytes)} MiB; preparing it takes a CPU "
        f"{ranged(prepared.prepare_s)} s, and {mebibytes(prepared.prepare_bytes)} MiB or more\n"
        f"initialisation on the phone: {ranged(prepared.initialise_s)} s with preparing the graph, "
        f"{ranged(prepared.load_s)} s with loading the binary\n"
        "(estimates, low .. high: all constants at their ends, most of them assumed)"
    )


def memory_line(memory: Footprint | MemoryUse) -> str:
    """Return the peak, its parts, and the layer at which most activations are live."""
    parts = memory_parts(memory)
    text = f"memory at the peak: {size(memory.peak_bytes)} ({parts})"
    if memory.process is not None:
        text += f"\nof its process on Android, with libraries: {mebibytes(memory.process)} MiB"
    if not memory.layers:
        return text
    sizes = {layer.name: layer.live_bytes for layer in memory.layers}
    most = max(sizes, key=lambda name: sizes[name])
    return f"{text}\nmost activations live: {size(sizes[most])}, at layer {most}"
