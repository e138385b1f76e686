"""What networks answer, as text: classes as the scripts in SNPE's tutorials print them, and the
precision of detections.

A line about a class has score, number and name; the first line of an input begins with its file.
"""

from hexsim.reports.text import table
from hexsim.results.answers import Answers, DetectionPrecision
from hexsim.texts.figures import percent

_NOTE = "mAP is the mean over classes and overlaps 0.50 to 0.95 (COCO); 100 boxes a picture count."


def answers_text(document: Answers) -> str:
    """Return a line per guess, with the file name before the likeliest."""
    width = max((len(answer.file) for answer in document.answers), default=0)
    lines = ["Classification results"]
    for answer in document.answers:
        for place, guess in enumerate(answer.top):
            file = "" if place else answer.file
            score = "" if guess.score is None else f"{guess.score:f}"
            line = f"{file:<{width}} {score} {guess.label:>3} {guess.name or ''}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def precision_table(document: DetectionPrecision) -> str:
    """Return a row per folder of results, in per cent."""
    rows = [
        (
            row.results,
            _percent(row.mean_average_precision),
            _percent(row.average_precision_50),
            _percent(row.average_precision_75),
            f"{row.detections:,}",
        )
        for row in document.precision
    ]
    return f"{table(('results', 'mAP', 'AP50', 'AP75', 'boxes'), rows)}\n\n{_NOTE}"


def _percent(value: float | None) -> str:
    return "-" if value is None else percent(value)
