"""What two models differ in: what `diff` returns."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from hexsim.results.document import Document
from hexsim.texts.fields import Part, about
from hexsim.texts.figures import figure


class PropertyChange(Part):
    """A property of a layer, or of a chip; null where a model lacks it."""

    layer: Annotated[str, about("the layer or the chip")]
    what: Annotated[str, about("the property")]
    first: Annotated[str | None, about("its value in the first model")] = None
    second: Annotated[str | None, about("its value in the second")] = None


class WeightChange(Part):
    """A constant whose float values differ."""

    layer: Annotated[str, about("its layer")]
    what: Annotated[str, about("its role in the layer")]
    largest: Annotated[float | None, about("the largest difference; null if shapes differ")]
    count: Annotated[int, about("how many values differ")]
    elements: Annotated[int, about("of how many")]


class DifferenceRow(Part):
    """A difference of any kind, as tables and CSV list them."""

    difference: Annotated[str, about("its kind")]
    layer: Annotated[str, about("the layer or the chip")]
    what: Annotated[str, about("the property, or the model that alone has the layer")]
    first: Annotated[str, about("in the first model; of weights, the largest difference")] = ""
    second: Annotated[str, about("in the second; of weights, how many values differ")] = ""


Kind = Literal["layers", "parameters", "dims", "weights", "outputs", "sections"]
KINDS = {
    "layers": "Unique layers",
    "parameters": "Parameters",
    "dims": "Dimensions",
    "weights": "Weights",
    "outputs": "Output names",
    "sections": "HTA sections and prepared graphs",
}
"""The kinds of difference, and what tables call them."""


class Difference(Document):
    """What two models differ in; layers are paired by name and type."""

    WRITTEN_BY: ClassVar[str] = "hexsim diff"
    ROW: ClassVar[type[Part] | None] = DifferenceRow

    first: Annotated[str, about("the first model, as named")]
    second: Annotated[str, about("the second")]
    only_first: Annotated[tuple[str, ...], about("layers of the first alone")] = ()
    only_second: Annotated[tuple[str, ...], about("layers of the second alone")] = ()
    parameters: Annotated[
        tuple[PropertyChange, ...], about("attributes, encodings and counts")
    ] = ()
    dims: Annotated[tuple[PropertyChange, ...], about("shapes of outputs")] = ()
    weights: Annotated[tuple[WeightChange, ...], about("constants")] = ()
    outputs: Annotated[tuple[PropertyChange, ...], about("names of outputs")] = ()
    sections: Annotated[
        tuple[PropertyChange, ...], about("HTA sections and prepared graphs, by chip")
    ] = ()

    def __bool__(self) -> bool:
        """Whether there is any difference."""
        return bool(self.rows)

    @property
    def title(self) -> str:
        """How many differences there are."""
        return f"{len(self.rows)} differences" if self else "no difference"

    @property
    def rows(self) -> tuple[DifferenceRow, ...]:
        """Every difference, kind by kind."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[DifferenceRow]:
        for model, names in ((self.first, self.only_first), (self.second, self.only_second)):
            for name in names:
                yield DifferenceRow(difference=KINDS["layers"], layer=name, what=model)
        for kind in ("parameters", "dims", "weights", "outputs", "sections"):
            for change in getattr(self, kind):
                first, second = _ends(change)
                yield DifferenceRow(
                    difference=KINDS[kind],
                    layer=change.layer,
                    what=change.what,
                    first=first,
                    second=second,
                )


def _ends(change: PropertyChange | WeightChange) -> tuple[str, str]:
    if isinstance(change, WeightChange):
        largest = "inf" if change.largest is None else figure(change.largest)
        return largest, f"{change.count} of {change.elements}"
    return change.first or "-", change.second or "-"
