"""Writes the SNPEDiag_<n>.log of a deployment that has run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.platforms.stacks import BufferType

Level = Literal["off", "basic", "moderate", "detailed"]


def write_log(
    path: Path,
    deployment: Deployment,
    perf_profile: str,
    level: Level,
    inferences: int,
    buffer: BufferType | None = None,
) -> None:
    """Simulate one inference, since every other one takes the same time, and write its log.

    Level off writes none.
    """
    from hexsim.files import write_bytes
    from hexsim.reports.diag_log import Run, diag_log, diag_rows

    if level == "off":
        return
    run = Run(
        network=deployment.network.name,
        chip=deployment.platform.chip.name,
        stack=deployment.platform.stack.name,
        runtime=deployment.runtime,
        perf_profile=perf_profile,
        profiling_level=level,
        inferences=inferences,
    )
    timing = deployment.simulate(perf_profile=perf_profile, buffer=buffer)
    text = diag_log(run, diag_rows(run, deployment.network, timing))
    write_bytes(path, text.encode(), parents=True)
