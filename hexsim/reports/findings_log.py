"""What a quantised network loses for certain, in the quantiser's log style."""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.quantization.model import Model

SHOWN = 5
"""Findings that are printed; the report of encodings has all."""


def findings_log(model: Model) -> Iterator[str]:
    """Yield a line per finding, the worst first, and how many more there are; none without any."""
    for finding in model.findings[:SHOWN]:
        yield f"[WARNING] {finding.sentence}"
    if len(model.findings) > SHOWN:
        yield f"[WARNING] and {len(model.findings) - SHOWN} more"
