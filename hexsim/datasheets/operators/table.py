"""The layers that a family of releases supports, as published by its vendor.

A table has a row for each layer type, or for each variant of one ("neuron: elu"), and a word for
each engine but the CPU, which supports every layer:

- "yes" and "no";
- "1.59": from that release on;
- "by 1.43": in the table of that release, and in some before it. Which ones is not published, so
  all of them are assumed to support it;
- no word: the source does not mention the layer.

The word for "dsp" holds for every integer runtime of Hexagon up to V66, that for "htp" for both
runtimes of the tensor processor. There a row may also name an ONNX operator without a layer type.
It then runs inside the graph ("yes"), or on the CPU (no word, or "no"). The tensor
engine inside AIP is not in these tables, because a single list is published for it, which the
layer types state.

Left out: limits on sizes and strides, which hold for single layers (`Layer.limits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable
from hexsim.datasheets.quantity import Confidence

Column = Literal["gpu", "dsp", "htp"]
Word = Annotated[str, Field(pattern=r"^(yes|no|(by )?\d+(\.\d+)*)$")]


class RowSource(DatasheetTable):
    """The source of rows, and its confidence."""

    text: str = Field(min_length=1)
    confidence: Confidence


class OperatorRow(DatasheetTable):
    """Support of a layer type or a variant of it; `source` is a key of the table's `sources`."""

    gpu: Word | None = None
    dsp: Word | None = None
    htp: Word | None = None
    source: str


class Unlisted(DatasheetTable):
    """Whether a layer without a row or word is refused, or assumed to be supported."""

    gpu: Literal["assumed", "refused"]
    dsp: Literal["assumed", "refused"]
    htp: Literal["assumed", "refused"] = "assumed"


@dataclass(frozen=True)
class Verdict:
    """Whether a layer is supported, and the source; `since` is the first release that does."""

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
        """Return the word on a layer, by its variant or its type; None if there is none."""
        row = self.rows.get(named(layer, variant)) or self.rows.get(layer)
        word = getattr(row, column) if row else None
        return (word, self.sources[row.source]) if row and word else None


def named(layer: str, variant: str) -> str:
    """Return the key of a row."""
    return f"{layer}: {variant}" if variant else layer
