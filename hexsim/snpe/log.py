"""What the tools that run networks log: the files of inputs, and SNPEDiag_<n>.log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.cli._say import say
from hexsim.snpe.option import Level

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment

RULE = "-" * 79
"""The line around the version, as the real tool prints it."""


def announce(files: Sequence[str]) -> None:
    """Print the files that the next inference reads."""
    say("\n".join(("Processing DNN input(s):", *files)))


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
