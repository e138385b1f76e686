"""Which layers the runtimes of a release support: a table for each family of releases.

SNPE 1.x, QNN and the delegates of TensorFlow Lite publish such tables; `any` is an empty one, for
a release that supports all that hexsim does. A stack names its family and its release in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hexsim.datasheets.architecture import HtpArch
from hexsim.datasheets.datasheet import Shelf
from hexsim.datasheets.operators.table import Column, OperatorTable, Verdict, named
from hexsim.runtimes import LayerTarget

__all__ = ["Column", "OperatorTable", "Operators", "Verdict", "column", "load", "named", "names"]

_SHELF = Shelf(OperatorTable, "table of operators", Path(__file__).parent)
names, load = _SHELF.names, cache(_SHELF.load)
_BY = "by "


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
    def of(cls, family: str, name: str | None = None, release: str | None = None) -> Operators:
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
