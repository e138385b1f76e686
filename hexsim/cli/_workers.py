"""Options for the worker processes of a command that can distribute its work."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hexsim.studies.processes import Sharing


@dataclass(frozen=True)
class Workers:
    """Processes of this machine, or a cluster of the user."""

    HEADING = "Workers"

    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            help="Address of a running dask scheduler: tcp://host:8786. Whoever reaches that "
            "scheduler runs code as you; protect it with TLS, by dask's own configuration.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Processes of this machine; default: one per core."),
    ] = None

    def settings(self) -> Sharing:
        """Return these options by the names of the API."""
        return {"workers": self.workers, "scheduler": self.scheduler}


@dataclass(frozen=True)
class SharedOut(Workers):
    """The same for a command that otherwise does its work itself."""

    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed", help="Distribute the inputs to workers (--workers, --scheduler)."
        ),
    ] = False

    def settings(self) -> Sharing:
        """Return these options by the names of the API."""
        asked = super().settings()
        if self.distributed and set(asked.values()) == {None}:
            asked["workers"] = os.cpu_count() or 1
        return asked
