"""`hexsim.calibrate`: constants of a chip or a stack fitted to times measured on a phone."""

import math
from collections.abc import Callable
from pathlib import Path

from hexsim.datasheets.datasheet_text import datasheet_text
from hexsim.datasheets.measurements import MeasuredLayer
from hexsim.errors import keywords_checked, unknown
from hexsim.results.calibration import (
    CalibratedConstant,
    CalibratedRow,
    Calibration,
    OneRunAlone,
)
from hexsim.results.fields import taken
from hexsim.studies.calibration import own
from hexsim.studies.calibration.own import ADJUSTABLE, Adjust, ReportedRow


@keywords_checked
def calibrate(
    rows: str | Path | None,
    chip: str | Path = "sd835",
    stack: str | Path | None = None,
    *,
    adjust: Adjust = "stack",
    layers: str | Path | None = None,
) -> Calibration:
    """Fit a stack, a chip or both to latencies measured on a phone, as `hexsim calibrate` does.

    `rows` is a CSV file in the format of measured_latency.csv, `layers` one in that of
    layer_latency.csv; one of them may be None. `adjust` says which constants the rows may change.
    `chip_toml` and `stack_toml` of the answer are texts of files that other functions take as chip
    and stack. Raises HexsimError, with file and line, for a row that cannot be read or simulated.
    """
    if adjust not in ADJUSTABLE:
        raise unknown("adjust", adjust, ADJUSTABLE)
    return fitted(rows, chip, stack, adjust, layers)


def fitted(
    rows: str | Path | None,
    chip: str | Path,
    stack: str | Path | None,
    adjust: Adjust,
    layers: str | Path | None,
    progress: Callable[[str], None] = lambda what: None,
) -> Calibration:
    """Return what `calibrate` does; `progress` is told what is done."""
    listed = None if layers is None else Path(layers)
    done = own.calibrate(rows, chip, stack, adjust, progress, listed)
    files = " and ".join(Path(file).name for file in (rows, layers) if file is not None)
    after_chip, after_stack = done.after.chip, done.after.stack
    return Calibration(
        chip=done.before.chip.name,
        stack=done.before.stack.name,
        constants=tuple(
            taken(
                CalibratedConstant,
                constant,
                stated_by=constant.datasheet,
                constant=constant.path,
                one_sigma_factor_before=math.exp(constant.error_before),
                one_sigma_factor_after=math.exp(constant.error_after),
            )
            for constant in done.constants
        ),
        measured=tuple(map(_row, done.rows)),
        one_run_alone=None if done.one_run is None else _alone(*done.one_run),
        chip_toml=datasheet_text(after_chip, f"{after_chip.title}, calibrated with {files}"),
        stack_toml=datasheet_text(after_stack, f"{after_stack.title}, calibrated with {files}"),
    )


def _alone(before: float, after: float) -> OneRunAlone:
    return OneRunAlone(median_error_of_others_before=before, median_error_of_others_after=after)


def _row(reported: ReportedRow) -> CalibratedRow:
    row = reported.row
    is_layer = isinstance(row, MeasuredLayer)
    of_run = "forward_propagate" if row.forward else "total_inference"
    return taken(
        CalibratedRow,
        reported,
        runtime=row.runtime,
        network=row.network,
        model=row.model,
        figure="layer" if is_layer else of_run,
        layer=row.layer if isinstance(row, MeasuredLayer) else None,
        layer_class=row.layer_class if isinstance(row, MeasuredLayer) else None,
        measured_ms=row.latency_ms,
    )
