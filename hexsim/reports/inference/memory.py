"""The memory of an inference as text and as data, the same in all reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hexsim.reports.text import quantity
from hexsim.runtimes import Runtime

if TYPE_CHECKING:
    from hexsim.memory import Footprint, LayerMemory

_PARTS = {
    "weight_bytes": "weights",
    "packed_bytes": "their packed copies",
    "activation_bytes": "activations",
    "scratch_bytes": "scratch",
    "handed_bytes": "handed to the DSP and back",
    "application_bytes": "buffers of the application",
}


@dataclass(frozen=True)
class NeededOn:
    """The memory that an inference needs on a runtime of a chip."""

    runtime: Runtime
    chip: str
    memory: Footprint

    @property
    def layers(self) -> dict[str, LayerMemory]:
        """The memory of each layer, by its name."""
        return {layer.name: layer for layer in self.memory.layers}


def memory_facts(memory: Footprint) -> dict[str, Any]:
    """Return all figures in bytes, those of every layer included."""
    return {
        "peak_bytes": memory.peak_bytes,
        **{part: getattr(memory, part) for part in _PARTS},
        "live_bytes": memory.live_bytes,
        "largest_layer": memory.largest.name if memory.largest else None,
        "on_chip_bytes": memory.on_chip_bytes,
        "layers": [asdict(layer) for layer in memory.layers],
    }


def memory_parts(facts: Mapping[str, Any]) -> str:
    """Return the parts of the peak; `facts` come from `memory_facts`."""
    sizes = {name: facts[part] for part, name in _PARTS.items()}
    return ", ".join(f"{name} {quantity(size, 'B')}" for name, size in sizes.items() if size)


def memory_line(memory: Footprint) -> str:
    """Return the peak, its parts, and the layer at which most activations are live."""
    parts = memory_parts({part: getattr(memory, part) for part in _PARTS})
    text = f"memory at the peak: {quantity(memory.peak_bytes, 'B')} ({parts})"
    if memory.largest is None:
        return text
    live = quantity(memory.live_bytes, "B")
    return f"{text}\nmost activations live: {live}, at layer {memory.largest.name}"
