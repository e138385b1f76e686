"""Prints on stderr what a model loses, and the outcome of overrides where a report has no notes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hexsim.cli._say import remark

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.quantization.finding import Told
    from hexsim.quantization.overrides.use import OverrideUse
    from hexsim.results.costs import OverrideCounts


def print_losses(
    deployment: Deployment, perf_profile: str | None = None, *, at_load: bool = False
) -> None:
    """Print a line per loss of a deployment; the parameters are those of `findings_of`."""
    from hexsim.deployment.findings import findings_of

    losses = findings_of(deployment, perf_profile, at_load=at_load)
    print_findings((deployment.network.name, losses))


def print_findings(*named: tuple[str, Iterable[Told]]) -> None:
    """Print a line per loss of networks, the worst first; with their names if they are several."""
    from hexsim.reports.network.quantizer_log import findings_log

    by_network: dict[str, list[Told]] = {}
    for network, findings in named:
        by_network.setdefault(network, []).extend(findings)
    for network, losses in by_network.items():
        for line in findings_log(losses, network if len(by_network) > 1 else ""):
            remark(line)


def print_override_use(network: str, use: OverrideUse | OverrideCounts | None) -> None:
    """Print a line, in the quantiser's log style, if there were overrides."""
    if use is not None:
        level = "INFO" if use.applied else "WARNING"
        remark(f"[{level}] {network}: {use}")
