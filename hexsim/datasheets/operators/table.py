"""What the runtimes of a family of releases take, as its vendor published it.

A table has a row for each layer type, or for each variant of one ("neuron: elu"), and a word for
each engine that is not the CPU, which takes everything:

- "yes" and "no";
- "1.59": from that release on;
- "by 1.43": in the table of that release, and in some before it. Which ones is not published, so
  all of them are assumed to have it;
- nothing: the source is silent.

The word on "dsp" holds for every runtime in integers. The tensor engine inside AIP is no part of
these tables: one list is published for it, and the layers themselves state it.

Left out: limits on sizes and strides, which hold for single layers (`Layer.limits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable
from hexsim.datasheets.quantity import Confidence

Column = Literal["gpu", "dsp"]
Word = Annotated[str, Field(pattern=r"^(yes|no|(by )?\d+(\.\d+)*)$")]


class RowSource(DatasheetTable):
    """Where rows come from, and how sure that is."""

    text: str = Field(min_length=1)
    confidence: Confidence


class OperatorRow(DatasheetTable):
    """Who takes a layer type or a variant of it; `source` is a key of the table's `sources`."""

    gpu: Word | None = None
    dsp: Word | None = None
    source: str


class Unlisted(DatasheetTable):
    """What holds for a layer without a row or word: it is refused, or assumed to be taken."""

    gpu: Literal["assumed", "refused"]
    dsp: Literal["assumed", "refused"]


@dataclass(frozen=True)
class Verdict:
    """Whether a layer is taken, by which source. `since` is the release that has it first."""

    taken: bool
    source: str
    confidence: Confidence
    since: str | None = None


class OperatorTable(Datasheet):
    """One family of releases."""

    unlisted: Unlisted
    sources: dict[str, RowSource]
    rows: dict[str, OperatorRow]

    @model_validator(mode="after")
    def _sources_are_known(self) -> Self:
        for key, row in self.rows.items():
            if row.source not in self.sources:
                raise PydanticCustomError(
                    "source", f"expected a source of this file for '{key}', not '{row.source}'"
                )
        return self

    def word(self, layer: str, variant: str, column: Column) -> tuple[str, RowSource] | None:
        """Return what is said of a layer, its variant before its type; None if nothing is."""
        row = self.rows.get(named(layer, variant)) or self.rows.get(layer)
        word = getattr(row, column) if row else None
        return (word, self.sources[row.source]) if row and word else None


def named(layer: str, variant: str) -> str:
    """The key of a row."""
    return f"{layer}: {variant}" if variant else layer
