"""Writes the SNPEDiag_<n>.log of a deployment that has run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment
    from hexsim.snpe.diag_log import DiagRun

Level = Literal["off", "basic", "moderate", "detailed"]


def described(deployment: Deployment, perf_profile: str, level: Level, inferences: int) -> DiagRun:
    """What a log says of the run that it is of."""
    from hexsim.snpe.diag_log import DiagRun

    return DiagRun(
        network=deployment.network.name,
        chip=deployment.platform.chip.name,
        stack=deployment.platform.stack.name,
        runtime=deployment.runtime,
        perf_profile=perf_profile,
        profiling_level=level,
        inferences=inferences,
    )


def write_log(
    path: Path,
    deployment: Deployment,
    perf_profile: str,
    level: Level,
    inferences: int,
    buffer: BufferType | None = None,
) -> None:
    """Simulate one inference, and write its log; level off writes none."""
    from hexsim.files import write_bytes
    from hexsim.snpe.diag_log import simulated_log

    if level != "off":
        text = simulated_log(deployment, perf_profile, level, inferences, buffer)
        write_bytes(path, text.encode(), parents=True)
