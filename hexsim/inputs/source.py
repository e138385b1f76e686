"""InputSource: sets of inputs that can be read again and again, and how many items they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.input_list import batch_size, read_input_list
from hexsim.inputs.seeded import seeded_calibration

Feed = Mapping[str, FloatArray]


@dataclass(frozen=True)
class InputSource:
    """`feeds` yields the sets from the first on, arrays in stored order, `batch` items in each.

    `items` are those of all sets without the padding of the last one; `names` are their file
    names, where each has its own. `files` are those of each set, or what it is called. A line of a
    list (a picture) brings `items_per_line` of its items. A list may ask for the outputs of layers
    and for tensors.
    `description` says in words where the items come from; `seeded` ones are made up.
    """

    feeds: Callable[[], Iterable[Feed]]
    items: int
    batch: int
    description: str
    names: tuple[str, ...] | None = None
    files: tuple[tuple[str, ...], ...] = ()
    items_per_line: int = 1
    output_layers: tuple[str, ...] = ()
    output_tensors: tuple[str, ...] = ()
    seeded: bool = False

    @property
    def sets(self) -> int:
        """Number of sets, one inference each."""
        return -(-self.items // self.batch)


def listed(
    path: Path,
    network: Network,
    types: Mapping[str, str] | None = None,
    place: Callable[[Path], Path] = Path,
) -> InputSource:
    """The raw files that an input list names; `types` and so on as `read_input_list` has them."""
    found = read_input_list(path, network, types, place)
    batch = batch_size(network)
    return InputSource(
        lambda: found.arrays(network),
        found.items,
        batch,
        f"inputs of '{path}'{padding(found.items, batch)}",
        files=tuple(
            tuple(str(file) for line in one for file in line.files.values()) for one in found.sets
        ),
        items_per_line=found.items // len(found.lines),
        output_layers=found.output_layers,
        output_tensors=found.output_tensors,
    )


def seeded(feeds: Sequence[Feed], network: Network) -> InputSource:
    """Made-up sets that are in memory, all of them full."""
    batch = batch_size(network)
    text = "seeded inputs, on which classes mean nothing"
    return InputSource(
        lambda: feeds,
        len(feeds) * batch,
        batch,
        text,
        files=tuple((f"seeded input {index}",) for index in range(len(feeds))),
        items_per_line=batch,
        seeded=True,
    )


def seeded_source(network: Network) -> InputSource:
    """The made-up sets that quantisers calibrate on where there are no others."""
    return seeded(seeded_calibration(network), network)


def padding(items: int, batch: int) -> str:
    """What to say if the last batch is not full."""
    rest = items % batch
    return f" (applying padding: the last batch holds {rest} of {batch} items)" if rest else ""
