"""`hexsim.calibrate`: constants of a chip or a stack fitted to times measured on a phone."""

from pathlib import Path

from hexsim.results.calibration import Calibration
from hexsim.studies.calibration import own
from hexsim.studies.calibration.own import Adjust
from hexsim.texts.arguments import arguments_checked


@arguments_checked
def calibrate(
    rows: str | Path | None,
    chip: str | Path,
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
    listed = None if layers is None else Path(layers)
    answer, _ = own.calibrate(rows, chip, stack, adjust, layers=listed)
    return answer
