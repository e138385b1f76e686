"""InputSource: sets of inputs that can be read again and again, and how many items they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.batches import batch_size
from hexsim.inputs.input_list import InputList, read_input_list
from hexsim.inputs.seeded import seeded_calibration

Feed = Mapping[str, FloatArray]


class Feeds(Protocol):
    """Sets of inputs by number, each read when it is asked for."""

    def feed(self, index: int) -> Feed:
        """The set of a number; HexsimError if it cannot be read."""

    def absolute(self) -> Self:
        """The same with all files named from the root."""


@dataclass(frozen=True)
class InMemory(Feeds):
    """Sets that are in memory."""

    sets: Sequence[Feed]

    def feed(self, index: int) -> Feed:
        """The set of a number."""
        return self.sets[index]

    def absolute(self) -> Self:
        """The same."""
        return self


@dataclass(frozen=True)
class _Listed(Feeds):
    """The sets of an input list."""

    found: InputList
    network: Network

    def feed(self, index: int) -> Feed:
        return self.found.feed(self.network, index)

    def absolute(self) -> Self:
        return replace(self, found=self.found.absolute())


@dataclass(frozen=True)
class InputSource:
    """`read` has the sets by number, arrays in stored order, `batch` items in each.

    `items` are those of all sets without the padding of the last one; `names` are their file
    names, where each has its own. `files` are those of each set, or what it is called. A line of a
    list (a picture) brings `items_per_line` of its items. A list may ask for the outputs of layers
    and for tensors.
    `description` says in words where the items come from; `seeded` ones are made up.
    """

    read: Feeds
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

    def feeds(self, first: int = 0, stop: int | None = None) -> Iterator[Feed]:
        """Yield the sets from the number `first` on, all of them or those before `stop`."""
        return map(self.read.feed, range(first, self.sets if stop is None else stop))

    def absolute(self) -> InputSource:
        """The same for a process that may work in another folder."""
        return replace(self, read=self.read.absolute())


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
        _Listed(found, network.without_values()),
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
        InMemory(feeds),
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
