"""The findings on a quantised network, in the style of the quantiser's log."""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.quantization.model import Model

SHOWN = 5
"""The number of findings that are printed; the report of encodings has all."""


def findings_log(model: Model) -> Iterator[str]:
    """Yield a line per finding, the worst first, then the number of findings not printed."""
    for finding in model.findings[:SHOWN]:
        yield f"[WARNING] {finding.sentence}"
    if len(model.findings) > SHOWN:
        yield f"[WARNING] and {len(model.findings) - SHOWN} more"
