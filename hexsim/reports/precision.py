"""Mean average precision as a table, as JSON and as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from hexsim.accuracy.average_precision import Precision
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import plain
from hexsim.reports.text import table

_NOTE = "mAP is the mean over classes and overlaps 0.50 to 0.95 (COCO); 100 boxes a picture count."


def precision_table(results: Mapping[str, Precision]) -> str:
    """Return a row per folder of results, in per cent."""
    rows = [
        (
            folder,
            *(_percent(value) for value in (precision.mean, precision.at_50, precision.at_75)),
            f"{precision.detections:,}",
        )
        for folder, precision in results.items()
    ]
    return f"{table(('results', 'mAP', 'AP50', 'AP75', 'boxes'), rows)}\n\n{_NOTE}"


def precision_json(results: Mapping[str, Precision]) -> str:
    """Return fractions; null where the pictures show nothing."""
    tree = [
        dict(zip(_COLUMNS, _row(folder, precision), strict=True))
        for folder, precision in results.items()
    ]
    return json.dumps({"precision": tree}, indent=1, allow_nan=False) + "\n"


def precision_csv(results: Mapping[str, Precision]) -> str:
    """Return fractions; empty where the pictures show nothing."""
    return csv_text(_COLUMNS, (_row(*result) for result in results.items()))


_COLUMNS = (
    *("results", "mean_average_precision", "average_precision_50", "average_precision_75"),
    "detections",
)


def _row(folder: str, precision: Precision) -> tuple[str | float | None, ...]:
    means = map(plain, (precision.mean, precision.at_50, precision.at_75))
    return folder, *means, precision.detections


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2%}"
