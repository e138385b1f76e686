"""What changed between results."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec.structs import asdict

from hexsim.results.costs import TimeError
from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Microseconds, Part, about


class ConditionChange(Part):
    """A condition that differs."""

    name: Annotated[str, about("which one")]
    before: Annotated[str, about("in the first result")]
    after: Annotated[str, about("in the later one")]


class FigureChange(Part):
    """A figure or a layer in its own unit; null where a result lacks it."""

    name: Annotated[str, about("what it is")]
    unit: Annotated[str, about("its unit")]
    before: Annotated[int | float | None, about("in the first result")]
    after: Annotated[int | float | None, about("in the later one")]
    ratio: Annotated[float | None, about("after over before; null for a before of 0")] = None


class CaseChange(Part):
    """A network on a runtime."""

    network: Annotated[str, about("its name")]
    place: Annotated[str, about("the runtime and its chip; of both where they differ")]
    conditions: Annotated[tuple[ConditionChange, ...], about("conditions that differ")]
    figures: Annotated[tuple[FigureChange, ...], about("figures, the main time first")]
    layers: Annotated[tuple[FigureChange, ...], about("layers, or parts of the time")]

    @property
    def name(self) -> str:
        """Network and place: `net on dsp of sd855 -> htp of sd8gen4`."""
        return f"{self.network} on {self.place}"

    @property
    def slower(self) -> float:
        """Relative increase of the main time; below 0 if it decreased."""
        return ((self.figures[0].ratio if self.figures else None) or 1.0) - 1.0


class Fastest(Part):
    """The fastest usable answer of one result on a network."""

    network: Annotated[str, about("its name")]
    chip: Annotated[str, about("the chip")]
    runtime: Annotated[Runtime, about("the runtime")]
    total_us: Annotated[Microseconds, about("one inference")]


class ChangeRow(Part):
    """A figure or a layer of a network on a runtime, as tables and CSV list them."""

    network: Annotated[str, about("its name")]
    place: Annotated[str, about("the runtime and its chip; of both where they differ")]
    kind: Annotated[str, about("figure or layer")]
    name: Annotated[str, about("what it is")]
    unit: Annotated[str, about("its unit")]
    before: Annotated[float | None, about("in the first result")]
    after: Annotated[float | None, about("in the later one")]
    ratio: Annotated[float | None, about("after over before")]


class Comparison(Document):
    """What changed between a result and one or more others."""

    WRITTEN_BY: ClassVar[str] = "hexsim compare"
    ROW: ClassVar[type[Part] | None] = ChangeRow

    versions: Annotated[tuple[str, ...], about("of hexsim, that wrote them")]
    fastest: Annotated[
        tuple[Fastest, ...],
        about("of each network in several results of bench, the fastest answer of each result"),
    ] = ()
    expected_errors: Annotated[
        Mapping[str, TimeError],
        about("how far times have been from measured ones, by chip and runtime, where known"),
    ] = {}
    only_before: Annotated[tuple[str, ...], about("what only the first has")] = ()
    only_after: Annotated[tuple[str, ...], about("what only a later one has")] = ()
    cases: Annotated[tuple[CaseChange, ...], about("what both have, result by result")]

    @property
    def rows(self) -> tuple[ChangeRow, ...]:
        """Every figure and every layer of all cases."""
        return tuple(
            ChangeRow(network=case.network, place=case.place, kind=kind, **asdict(change))
            for case in self.cases
            for kind, changes in (("figure", case.figures), ("layer", case.layers))
            for change in changes
        )

    @property
    def title(self) -> str:
        """How many cases are in both results, and how many in one."""
        gone, new = len(self.only_before), len(self.only_after)
        return f"{len(self.cases)} in both, {gone} gone, {new} new"
