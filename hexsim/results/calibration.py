"""Constants of a chip or a stack fitted to measured rows: what `calibrate` returns."""

from typing import Annotated, ClassVar, Literal

from hexsim.results.document import Document
from hexsim.runtimes import Runtime
from hexsim.texts.fields import Milliseconds, Part, Share, about

CalibratedFigure = Literal["layer", "forward_propagate", "total_inference"]


class CalibratedConstant(Part):
    """A constant; its errors are factors."""

    stated_by: Annotated[str, about("the datasheet", label="stated by")]
    constant: Annotated[str, about("its path there", label="constant")]
    unit: Annotated[str, about("its unit")]
    reported: Annotated[bool, about("whether the rows inform about it")]
    before: Annotated[float, about("as it was", label="before")]
    after: Annotated[float, about("as fitted", label="after")]
    one_sigma_factor_before: Annotated[float, about("its error as it was")]
    one_sigma_factor_after: Annotated[float, about("its error as fitted")]


class CalibratedRow(Part):
    """A measured row, before and after, and predicted from the others."""

    runtime: Annotated[Runtime, about("the runtime")]
    network: Annotated[str, about("the network")]
    model: Annotated[str, about("its file or built-in network")]
    figure: Annotated[CalibratedFigure, about("what was measured")]
    layer: Annotated[str | None, about("the layer; null for a run")] = None
    layer_class: Annotated[str | None, about("the class of the layer; null for a run")] = None
    measured_ms: Annotated[Milliseconds, about("as measured")]
    before_ms: Annotated[Milliseconds, about("with the constants as they were")]
    after_ms: Annotated[Milliseconds, about("with those that were fitted")]
    left_out_ms: Annotated[
        Milliseconds | None, about("by a calibration with the other runs; null if there are none")
    ] = None


class OneRunAlone(Part):
    """What one run alone does to the others."""

    median_error_of_others_before: Annotated[Share, about("without any")]
    median_error_of_others_after: Annotated[Share, about("with one run")]


class Calibration(Document, rename={"measured": "rows"}):
    """What calibrate found."""

    WRITTEN_BY: ClassVar[str] = "hexsim calibrate"
    ROWS: ClassVar[str] = "constants"

    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    constants: Annotated[
        tuple[CalibratedConstant, ...], about("those in doubt, the most changed first")
    ]
    measured: Annotated[tuple[CalibratedRow, ...], about("rows")]
    one_run_alone: Annotated[
        OneRunAlone | None, about("with three runs or more: the value of one alone")
    ] = None
    chip_toml: Annotated[str, about("the calibrated chip as its file", stored=False)] = ""
    stack_toml: Annotated[str, about("the calibrated stack as its file", stored=False)] = ""

    @property
    def title(self) -> str:
        """How many constants the rows moved."""
        moved = sum(constant.reported for constant in self.constants)
        counts = f"{moved} of {len(self.constants)} constants informed by {len(self.measured)} rows"
        return f"{self.chip}, {self.stack}: {counts}"
