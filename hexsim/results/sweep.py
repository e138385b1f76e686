"""A sweep: the points of a space of designs that nothing beats, and which parameter matters."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from hexsim.results.costs import AnchorError, TimeError
from hexsim.results.document import Document, pandas
from hexsim.texts.fields import Part, Share, about


class PairEffect(Part):
    """What two parameters do together, beyond what each does alone."""

    parameters: Annotated[tuple[str, str], about("the two")]
    part: Annotated[Share, about("of the variance of the figure's logarithm")]


class Effects(Part):
    """The parts that parameters, alone and in pairs, have in the variance of a figure."""

    figure: Annotated[str, about("the figure")]
    spread: Annotated[float, about("ratio of the 95th to the 5th percentile of its values")]
    alone: Annotated[
        Mapping[str, Share], about("of the variance of its logarithm, by parameter, largest first")
    ] = {}
    together: Annotated[tuple[PairEffect, ...], about("pairs, the largest first")] = ()


class Sweep(Document):
    """What sweep found: the front with all columns, and what matters for each figure."""

    WRITTEN_BY: ClassVar[str] = "hexsim sweep show"
    ROWS: ClassVar[str] = "front"

    version: Annotated[str, about("the version that has swept")] = msgspec.field(
        name="hexsim_version"
    )
    space: Annotated[Mapping[str, Any], about("the space, as its file states it")]
    anchor: Annotated[str | None, about("what the times were calibrated with")] = None
    anchor_error: Annotated[AnchorError | None, about("how wrong it may be")] = None
    anchor_classes: Annotated[Any, about("factors of classes of layers")] = None
    points: Annotated[int, about("how many were simulated")]
    varied: Annotated[tuple[str, ...], about("parameters with more than one value")]
    figures: Annotated[tuple[str, ...], about("the figures in which nothing beats the front")]
    front: Annotated[
        tuple[Mapping[str, Any], ...], about("its points, with a value for every column")
    ]
    effects: Annotated[tuple[Effects, ...], about("what matters to each figure")] = ()
    calibration: Annotated[str, about("what was measured on a phone, in words")] = ""
    expected_errors: Annotated[
        Mapping[str, TimeError],
        about("how far times have been from measured ones, by chip and runtime, where known"),
    ] = {}
    refused: Annotated[int, about("points that a runtime refuses")] = 0
    refusal: Annotated[str | None, about("why the first of them is refused")] = None
    outside_bounds: Annotated[
        tuple[str, ...], about("constants with values outside of their bounds")
    ] = ()
    table: Annotated[Any, about("all points, a pyarrow.Table", stored=False)] = None
    front_rows: Annotated[
        tuple[int, ...], about("rows of the table that are the front", stored=False)
    ] = ()

    @property
    def title(self) -> str:
        """How many points there are, and how many nothing beats."""
        return f"{len(self.front)} of {self.points} points are unbeaten in {self.named_figures}"

    @property
    def named_figures(self) -> str:
        """The figures, separated by commas."""
        return ", ".join(self.figures)

    @property
    def rows(self) -> tuple[Part, ...]:
        """None, as points have columns of their own."""
        return ()

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns of a table: the point, the parameters that vary, and the figures."""
        return tuple(dict.fromkeys(("point", *self.varied, *self.figures)))

    def to_dataframe(self) -> Any:
        """Return all points, or those of the front if it was read from a file.

        It is a pandas.DataFrame; HexsimError if pandas is not installed.
        """
        frames = pandas()
        return frames.DataFrame(list(self.front)) if self.table is None else self.table.to_pandas()
