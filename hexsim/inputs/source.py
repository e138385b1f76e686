"""InputSource: sets of inputs that can be read repeatedly, counted and split.

Inputs that calibrated a quantiser flatter it: its ranges fit them. So of a list for both, every
second inference calibrates (the 1st, 3rd, 5th, ...), and the others judge. A list that is ordered
by class thus has each class in both parts. One inference alone does both, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, Protocol, Self, TypeVar

from hexsim import models
from hexsim.errors import HexsimError, spelled
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.input_list import InputList, read_input_list
from hexsim.inputs.seeded import (
    EVALUATION_INPUTS,
    EVALUATION_SEED,
    recognises_pictures,
    seeded_calibration,
)
from hexsim.records import dataclass, replace

Feed = Mapping[str, FloatArray]

CALIBRATING_PICTURES, JUDGING_PICTURES = 50, 200
"""Pictures drawn for a trained built-in network; the SNPE guide recommends 50 to 100 for the first,
and one of the others is half a percentage point."""


class Feeds(Protocol):
    """Sets of inputs by number, each read when it is needed."""

    def feed(self, index: int) -> Feed:
        """Return the set with a number; HexsimError if it cannot be read."""

    def absolute(self) -> Self:
        """Return the same sets with absolute paths of files."""


@dataclass(frozen=True)
class InMemory(Feeds):
    """Sets that are in memory."""

    sets: Sequence[Feed]

    def feed(self, index: int) -> Feed:
        """Return the set with a number."""
        return self.sets[index]

    def absolute(self) -> Self:
        """Return this object."""
        return self


@dataclass(frozen=True)
class _Listed(Feeds):
    input_list: InputList
    network: Network

    def feed(self, index: int) -> Feed:
        return self.input_list.feed(self.network, index)

    def absolute(self) -> Self:
        return replace(self, input_list=self.input_list.absolute())


@dataclass(frozen=True)
class InputSource:
    """Sets of inputs: `read` has the sets by number, arrays in stored order, `batch` items each.

    `items` is the number of items in all sets without the padding of the last one; `names` are
    their file names, where each item has its own. `files` has the files of each set, or a name for
    it. A line of a list (a picture) has `items_per_line` items. A list may request the outputs of
    layers and tensors. `description` says in words where the items come from; `seeded` ones are
    artificial. `pictures` are the steps that made them of pictures. `classes` are the right classes
    of each item, if the source itself knows them.
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
    pictures: PictureSteps | None = None
    classes: tuple[tuple[int, ...], ...] | None = None

    @property
    def sets(self) -> int:
        """Number of sets, one inference each."""
        return -(-self.items // self.batch)

    def feeds(self, first: int = 0, stop: int | None = None) -> Iterator[Feed]:
        """Yield the sets from number `first` on, up to before `stop` if it is given."""
        return map(self.read.feed, range(first, self.sets if stop is None else stop))

    def absolute(self) -> InputSource:
        """Return the same source for a process that may work in another folder."""
        return replace(self, read=self.read.absolute())


def listed(
    path: Path,
    network: Network,
    types: Mapping[str, str] | None = None,
    place: Callable[[Path], Path] = Path,
) -> InputSource:
    """Return the raw files that an input list names; arguments as in `read_input_list`."""
    input_list = read_input_list(path, network, types, place)
    batch = batch_size(network)
    return InputSource(
        _Listed(input_list, network.without_values()),
        input_list.items,
        batch,
        f"inputs of '{path}'{padding(input_list.items, batch)}",
        files=tuple(
            tuple(str(file) for line in line_set for file in line.files.values())
            for line_set in input_list.sets
        ),
        items_per_line=input_list.items // len(input_list.lines),
        output_layers=input_list.output_layers,
        output_tensors=input_list.output_tensors,
    )


def seeded(feeds: Sequence[Feed], network: Network) -> InputSource:
    """Return a source of seeded sets in memory, all of them full."""
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
    """Return the seeded sets on which quantisers calibrate by default."""
    if recognises_pictures(network):
        return _drawn(network, CALIBRATING_PICTURES, 0)
    return seeded(seeded_calibration(network), network)


def judging_source(network: Network) -> InputSource:
    """Return the seeded sets on which answers are compared by default."""
    if recognises_pictures(network):
        return _drawn(network, JUDGING_PICTURES, EVALUATION_SEED)
    return seeded(seeded_calibration(network, EVALUATION_INPUTS, EVALUATION_SEED), network)


def _drawn(network: Network, count: int, seed: int) -> InputSource:
    """Return pictures drawn for a trained built-in network, with their classes."""
    feeds = seeded_calibration(network, count, seed)
    _, classes = models.pictures(count, seed)
    return replace(
        seeded(feeds, network),
        description=f"{count} pictures drawn for {network.name}",
        files=tuple((f"picture {index}",) for index in range(count)),
        seeded=False,
        classes=classes,
    )


def padding(items: int, batch: int) -> str:
    """Return words for a last batch that is not full."""
    last = items % batch
    return f" (applying padding: the last batch holds {last} of {batch} items)" if last else ""


Value = TypeVar("Value")
Part = Literal["calibrate", "judge"]

_PARTS: dict[Part, tuple[int, str]] = {
    "calibrate": (0, "the 1st, 3rd, ..."),
    "judge": (1, "the 2nd, 4th, ..."),
}
"""Number of the first inference of each part, and the words for all of them."""


@dataclass(frozen=True)
class _EverySecond(Feeds):
    whole: Feeds
    first: int

    def feed(self, index: int) -> Feed:
        return self.whole.feed(self.first + 2 * index)

    def absolute(self) -> Self:
        return replace(self, whole=self.whole.absolute())


def part_of(source: InputSource, part: Part) -> InputSource:
    """Return the inputs of `source` for one purpose; HexsimError if there is no second inference.

    Padding stays in the last batch of its part.
    """
    if source.sets < 2:
        raise HexsimError(
            f"{source.description}: one inference, which cannot be split; give more inputs, or "
            f"leave {spelled('part')} out"
        )
    first, words = _PARTS[part]
    return replace(
        source,
        read=_EverySecond(source.read, first),
        items=len(items_of(source, part, range(source.items))),
        description=f"{words} of {source.description}",
        names=None if source.names is None else items_of(source, part, source.names),
        files=source.files[first::2],
    )


def items_of(source: InputSource, part: Part, values: Sequence[Value]) -> tuple[Value, ...]:
    """Return those of `values`, one for each item of `source`, whose items are in a part."""
    starts = range(_PARTS[part][0] * source.batch, source.items, 2 * source.batch)
    return tuple(chain.from_iterable(values[at : at + source.batch] for at in starts))


@dataclass(frozen=True)
class InputRoles:
    """The inputs that judge, with the right classes of each item if they are known.

    `calibrating` has those on which a network is quantised; None if nothing is to be quantised.
    """

    judging: InputSource
    labels: tuple[tuple[int, ...], ...] | None = None
    calibrating: InputSource | None = None

    def quantizing(self, network: Network, others: InputSource | None = None) -> Self:
        """Return these inputs for a network that is quantised on `others`, or on a part of them.

        Seeded inputs and drawn pictures are not split: others of the kind calibrate.
        """
        source = self.judging
        if others is None and (source.seeded or source.classes is not None):
            others = seeded_source(network)
        if others is not None or source.sets < 2:
            return replace(self, calibrating=others or source)
        return replace(
            self,
            judging=part_of(source, "judge"),
            labels=None if self.labels is None else items_of(source, "judge", self.labels),
            calibrating=replace(
                part_of(source, "calibrate"), description=f"{_PARTS['calibrate'][1]} of them"
            ),
        )

    @property
    def calibration(self) -> str:
        """What calibrates, and how many inputs calibrate and judge."""
        source = self.calibrating
        assert source is not None, "something is quantised"
        if source.seeded:
            return f"{source.items} seeded inputs"
        return f"{source.description}: {roles(source, self.judging)}"


def roles(calibrating: InputSource, judging: InputSource) -> str:
    """Return how many inputs calibrate, and how many others judge."""
    count = calibrating.items
    inputs = "1 input calibrates" if count == 1 else f"{count} inputs calibrate"
    if calibrating is not judging:
        others = "1 other judges" if judging.items == 1 else f"{judging.items} others judge"
        return f"{inputs}, {others}"
    verb = "judges" if count == 1 else "judge"
    others = spelled("calibration_list")
    return f"{inputs} and {verb}, which flatters; give more, or others with {others}"
