"""Writes the SNPEDiag_<n>.log of a deployment that has run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment

Level = Literal["off", "basic", "moderate", "detailed"]


def write_log(
    path: Path,
    deployment: Deployment,
    perf_profile: str,
    level: Level,
    inferences: int,
    buffer: BufferType | None = None,
) -> None:
    """Simulate one inference and write its log; level off writes no file."""
    from hexsim.files import write_bytes
    from hexsim.snpe.diag_log import simulated_log

    if level != "off":
        text = simulated_log(deployment, perf_profile, level, inferences, buffer)
        write_bytes(path, text.encode(), parents=True)
