"""How a model is split into parts, each a graph of its own in a context binary.

A part holds whole layers; the last one also holds the head. Parts are made as equal as possible,
and as few as their limit allows. The limit is one of deployments: 2 GB for files whose sizes are
signed 32-bit numbers, and less than 4 GB, which is what a process of the processor addresses.
"""

from dataclasses import dataclass
from itertools import pairwise

from hexsim.errors import HexsimError, spelled
from hexsim.llm.architecture import Architecture
from hexsim.llm.network import Widths
from hexsim.texts.figures import figure

GIGABYTE = 1e9


@dataclass(frozen=True)
class Part:
    """Layers `first` to `last` (exclusive) of a model, and the head if `head`."""

    first: int
    last: int
    head: bool

    @property
    def layers(self) -> range:
        """The numbers of its layers."""
        return range(self.first, self.last)


def part_bytes(architecture: Architecture, part: Part, widths: Widths, context: int) -> int:
    """Return the bytes of a part's weights and cache."""
    weights = architecture.layer_weights * widths.weights // 8
    cache = architecture.cache_bytes(context, widths.cache_bits) // architecture.layers
    head = architecture.head_weights * widths.head_bits // 8 if part.head else 0
    return len(part.layers) * (weights + cache) + head


def split(
    architecture: Architecture, widths: Widths, context: int, most_bytes: float
) -> tuple[Part, ...]:
    """Split a model into the fewest parts of at most `most_bytes` of weights and cache.

    Raises HexsimError if one layer, or the head with no layer, is larger than a part.
    """
    count = architecture.layers
    for parts in range(1, count + 2):
        cuts = [round(at * count / parts) for at in range(parts + 1)]
        if parts == count + 1:
            cuts = [*range(count + 1), count]
        made = tuple(
            Part(first, last, head=at == parts - 1)
            for at, (first, last) in enumerate(pairwise(cuts))
        )
        sizes = [part_bytes(architecture, part, widths, context) for part in made]
        if max(sizes) <= most_bytes:
            return made
    raise HexsimError(
        f"model '{architecture.name}' cannot be split into parts of {most_bytes / GIGABYTE:g} GB: "
        f"the largest layer or the head takes {figure(max(sizes) / GIGABYTE)} GB; give a larger "
        f"{spelled('part_gb')} or narrower weights"
    )
