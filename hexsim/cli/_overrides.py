"""Prints the outcome of overrides for commands that quantise by themselves and have no notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.cli._say import remark

if TYPE_CHECKING:
    from hexsim.quantization.overrides.use import OverrideUse
    from hexsim.results.costs import OverrideCounts


def print_override_use(network: str, use: OverrideUse | OverrideCounts | None) -> None:
    """Print a line, in the quantiser's log style, if there were overrides."""
    if use is not None:
        level = "INFO" if use.applied else "WARNING"
        remark(f"[{level}] {network}: {use}")
