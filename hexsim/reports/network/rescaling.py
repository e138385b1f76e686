"""The loss from rescaling asymmetric weights at load, as a line and as a table."""

from collections.abc import Sequence

from hexsim.errors import spelled
from hexsim.reports.text import table
from hexsim.results.validation import RescaledWeight, db_text, worst_rescaled
from hexsim.texts.figures import figure


def _remedy() -> str:
    options = f"{spelled('symmetric_weights', True)}, {spelled('axis_weights', True)}"
    return f"symmetric weights ({options}) are taken as they are"


def rescaling_line(losses: Sequence[RescaledWeight]) -> str:
    """Return a line that names the worst layer."""
    loss = worst_rescaled(losses)
    return (
        f"weights rescaled to signed ones at load: {len(losses)}, worst '{loss.layer}' with "
        f"{db_text(loss.sqnr_db)} dB, max error {figure(loss.max_error)} ({figure(loss.steps)} "
        f"steps); {_remedy()}"
    )


def rescaling_table(losses: Sequence[RescaledWeight], chip: str) -> str:
    """Return all losses in network order."""
    if not losses:
        return f"{chip} rescales no weights at load"
    header = ("layer", "weight", "SQNR dB", "max error", "in steps")
    rows = [
        (
            loss.layer,
            loss.weight,
            db_text(loss.sqnr_db),
            figure(loss.max_error),
            figure(loss.steps),
        )
        for loss in losses
    ]
    head = (
        f"{chip} rescales asymmetric weights per output channel to signed ones at load; {_remedy()}"
    )
    return f"{head}\n{table(header, rows, left=frozenset({0, 1}))}"
