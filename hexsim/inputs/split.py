"""Split inputs: some calibrate the quantiser, and the others judge its answers.

Inputs that calibrated a quantiser flatter it: its ranges fit them. So of a list for both, every
second inference calibrates (the 1st, 3rd, 5th, ...), and the others judge. A list that is ordered
by class thus has each class in both parts. One inference alone does both, and the report says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, Self, TypeVar

from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import Network
from hexsim.inputs.source import Feed, Feeds, InputSource, seeded_source

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

        Seeded inputs are not split: other seeded ones calibrate.
        """
        source = self.judging
        if others is None and source.seeded:
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
            return "seeded inputs"
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
