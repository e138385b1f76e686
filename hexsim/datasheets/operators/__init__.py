"""Which layers the runtimes of a release support, as published: a table per family of releases.

A table has a row for each layer type, or for each variant of one ("neuron: elu"), and a word for
each engine but the CPU, which supports every layer:

- "yes" and "no";
- "1.59": from that release on;
- "by 1.43": in the table of that release, and in some before it. Which ones is not published, so
  all of them are assumed to support it;
- no word: the source does not mention the layer.

The word for "dsp" holds for every integer runtime of Hexagon up to V66, that for "htp" for both
runtimes of the tensor processor, inside whose graph a row may also name an ONNX operator without a
layer type. The tensor engine inside AIP has a single published list, which the layer types state.
`elements` says in which types of element and from which architecture on a tensor processor takes an
operator; what it does not mention is assumed to be taken. Left out: limits on sizes and strides,
which hold for single layers (`Layer.limits`).

SNPE 1.x, QNN and the delegates of TensorFlow Lite publish such tables; `any` is an empty one, for
a release that supports all that hexsim does. A stack names its family and its release in it.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from msgspec import Meta

from hexsim.datasheets.chips import HtpArch, version
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf
from hexsim.datasheets.quantity import Confidence, Text
from hexsim.records import dataclass
from hexsim.runtimes import LayerTarget
from hexsim.texts.tables import Checked

Column = Literal["gpu", "dsp", "htp"]
ElementType = Literal["int8", "int16", "float16"]
"""Codes of at most 8 bits, codes of more, and floats, whatever their bits in the file."""
ANY_OPERATOR = "*"
_WORDS = {"int8": "8-bit codes", "int16": "16-bit codes", "float16": "float16"}
_BY = "by "


def unless_release(text: str) -> str | None:
    """Return what is expected of a text that is no number of a release."""
    return None if all(map(str.isdecimal, text.split("."))) else "a release, such as '1.59'"


def _unless_word(text: str) -> str | None:
    is_wrong = text not in ("yes", "no") and unless_release(text.removeprefix(_BY))
    return "'yes', 'no' or a release, such as '1.59' or 'by 1.43'" if is_wrong else None


Word = Annotated[str, Checked(_unless_word)]


class RowSource(DatasheetTable):
    """The source of rows, and its confidence."""

    text: Text
    confidence: Confidence


class OperatorRow(DatasheetTable):
    """Support of a layer type or a variant of it; `source` is a key of the table's `sources`."""

    gpu: Word | None = None
    dsp: Word | None = None
    htp: Word | None = None
    source: str


class ElementEntry(DatasheetTable):
    """The `first` architecture of tensor processor that takes `operators` in `types` of element.

    "none" means that none is known to. An operator is a key as in `rows`, one with the axes of its
    result ("GridSample: 5 axes"), or "*" for all. With `chips` the entry holds for these alone. Of
    several entries that fit, the first in the file counts.
    """

    operators: Annotated[tuple[str, ...], Meta(min_length=1)]
    types: Annotated[tuple[ElementType, ...], Meta(min_length=1)]
    first: HtpArch | Literal["none"]
    source: str
    chips: tuple[str, ...] = ()


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
    elements: tuple[ElementEntry, ...] = ()

    def fault(self) -> str | None:
        """Return what is expected of a row whose source the file does not state."""
        named_sources = [(key, row.source) for key, row in self.rows.items()]
        named_sources += [(entry.operators[0], entry.source) for entry in self.elements]
        unknown = (each for each in named_sources if each[1] not in self.sources)
        key, source = next(unknown, ("", ""))
        return f"a source of this file for '{key}', not '{source}'" if key else None

    def word(self, layer: str, variant: str, column: Column) -> tuple[str, RowSource] | None:
        """Return the word on a layer, by its variant or its type; None if there is none."""
        row = self.rows.get(named(layer, variant)) or self.rows.get(layer)
        word = getattr(row, column) if row else None
        return (word, self.sources[row.source]) if row and word else None

    def element_entry(
        self, keys: Sequence[str], element: ElementType, chip: str | None = None
    ) -> ElementEntry | None:
        """Return the entry of an operator with these `keys`; None if there is none."""
        names = {*keys, ANY_OPERATOR}
        on_chip = (entry for entry in self.elements if not entry.chips or chip in entry.chips)
        entries = (entry for entry in on_chip if element in entry.types)
        return next((entry for entry in entries if names.intersection(entry.operators)), None)

    def element_refusal(
        self, keys: Sequence[str], element: ElementType, chip: str | None, arch: HtpArch
    ) -> str | None:
        """Return why a tensor processor refuses an operator in a type of element, or None.

        `keys` name the operator, the most special one first, and its layer type last.
        """
        entry = self.element_entry(keys, element, chip)
        if entry is None or (entry.first != "none" and version(entry.first) <= version(arch)):
            return None
        what = "" if ANY_OPERATOR in entry.operators else f"{keys[-1]} in "
        processor = f"{chip} ({arch.upper()})" if entry.chips else arch.upper()
        others = "other chips do" if entry.chips else "no architecture is known to take it"
        others = others if entry.first == "none" else f"{entry.first.upper()} and later take it"
        refused = f"{what}{_WORDS[element]} is not taken by {processor}"
        return f"{refused}, {others} ({self.sources[entry.source].text})"


def named(layer: str, variant: str) -> str:
    """Return the key of a row."""
    return f"{layer}: {variant}" if variant else layer


_SHELF = Shelf(OperatorTable, "table of operators", Path(__file__).parent)
names, load = _SHELF.names, cache(_SHELF.load)


def column(target: LayerTarget) -> Column | None:
    """Return the column of a table for a runtime; None for the CPU and the HTA."""
    if target in ("cpu", "hta"):
        return None
    if target in ("htp", "htp_fp16"):
        return "htp"
    return "gpu" if target in ("gpu", "gpu_fp16") else "dsp"


@dataclass(frozen=True)
class Operators:
    """The layers that the runtimes of one release support.

    `name` is the name of the release in messages; `release` is its number in the family, None if it
    is later than all in the table. `chip` and `arch` are those of the tensor processor; without
    them nothing is refused for its type of element.
    """

    name: str
    table: OperatorTable
    release: str | None = None
    chip: str | None = None
    arch: HtpArch | None = None

    @classmethod
    def of(cls, family: str, name: str | None = None, release: str | None = None) -> Self:
        """Return a release of a family; raises HexsimError for an unknown family."""
        table = load(family)
        return cls(name or table.title, table, release)

    def runs_in_graph(self, operator: str, form: str = "") -> bool:
        """Tell whether an ONNX operator without a layer type runs on the tensor processor."""
        return self.table.word(operator, form, "htp") is not None and (
            (verdict := self.verdict(operator, form, "htp")) is not None and verdict.taken
        )

    def verdict(self, layer: str, variant: str, of: Column) -> Verdict | None:
        """Return the published verdict on a layer; None if there is none, so that it is assumed."""
        entry = self.table.word(layer, variant, of)
        if entry is None:
            if getattr(self.table.unlisted, of) == "assumed":
                return None
            return Verdict(False, f"not in the list of {self.table.title}", "documented")
        word, source = entry
        if word in ("yes", "no"):
            return Verdict(word == "yes", source.text, source.confidence)
        first = word.removeprefix(_BY)
        if self.release is None or _order(self.release) >= _order(first):
            return Verdict(True, source.text, source.confidence, first)
        if word.startswith(_BY):
            return Verdict(True, f"{source.text}, of which release is not said", "assumed", first)
        return Verdict(False, source.text, source.confidence, first)


def _order(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))
