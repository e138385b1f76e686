"""Datasheets as text: every constant with unit, confidence and source."""

from collections.abc import Collection

from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.measurements.calibration import intervals
from hexsim.reports.text import quantity, table


def datasheet_table(datasheet: Datasheet, without: Collection[str] = ()) -> str:
    """Return a line per constant: dotted path, value, confidence, swept interval, source.

    Constants whose paths are in `without` are left out. The interval of a calibrated constant is
    what the fit leaves possible inside its bounds.
    """
    swept = {path: bounds for path, _, *bounds in intervals(datasheet)}
    rows = []
    for path, constant in datasheet.quantities():
        if path in without:
            continue
        interval = " .. ".join(quantity(bound, constant.unit) for bound in swept.get(path, ()))
        value = quantity(constant.value, constant.unit)
        rows.append((path, value, constant.confidence, interval, constant.source))
    header = ("constant", "value", "confidence", "swept", "source")
    left, uncut = frozenset({0, 2, 3, 4}), frozenset({0})
    return f"{datasheet.name}: {datasheet.title}\n{table(header, rows, left=left, whole=uncut)}"
