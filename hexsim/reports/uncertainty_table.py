"""The interval of one inference, and every constant that it comes from."""

from __future__ import annotations

from hexsim.reports.text import quantity, table
from hexsim.studies.uncertainty import Uncertainty


def uncertainty_table(found: Uncertainty) -> str:
    """Return both intervals, then a line per constant, those that matter most first."""
    names = ("total inference", "forward propagate")
    lines = [
        f"{name}: {nominal / 1e3:.2f} ms, between {low / 1e3:.2f} and {high / 1e3:.2f}"
        for name, low, nominal, high in zip(
            names, found.low, found.nominal, found.high, strict=True
        )
    ]
    rows = [
        (
            swing.path,
            swing.sheet,
            swing.constant.confidence,
            quantity(swing.low, swing.constant.unit),
            quantity(swing.constant.value, swing.constant.unit),
            quantity(swing.high, swing.constant.unit),
            f"{swing.at_low.total_us / 1e3:.2f} .. {swing.at_high.total_us / 1e3:.2f}",
            f"{share:.0%}",
        )
        for swing, share in zip(found.swings, found.shares, strict=True)
    ]
    header = (
        "constant",
        "stated by",
        "confidence",
        "low",
        "value",
        "high",
        "total ms",
        "share",
    )
    return "\n".join([*lines, "", table(header, rows, left=frozenset({0, 1, 2}))])
