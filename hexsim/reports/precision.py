"""Mean average precision as a table, as JSON and as CSV."""

import math
from collections.abc import Mapping

from hexsim.accuracy.detections import Precision
from hexsim.reports.document import Record
from hexsim.reports.text import table
from hexsim.texts.figures import percent

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


folder_facts = Record(
    "A folder of results; fractions, null where the pictures show nothing.",
    "results=0 mean_average_precision=1.mean average_precision_50=1.at_50",
    "average_precision_75=1.at_75 detections=1.detections",
)

precision_facts = Record(
    "What detections found.", {"precision": (lambda results: results.items(), [folder_facts])}
)


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else percent(value)
