"""Options for the worker processes of a command that can distribute its work."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from hexsim.cli._signature import Keywords


@dataclass(frozen=True)
class Workers(Keywords):
    """Processes of this machine, or a cluster of the user."""

    HEADING = "Workers"

    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a running dask scheduler: tcp://host:8786. Whoever reaches that "
            "scheduler runs code as you; protect it with TLS, by dask's own configuration."
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes of this machine; default: one per core.")
    ] = None


@dataclass(frozen=True)
class SharedOut(Workers):
    """The same for a command that otherwise does its work itself."""

    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed", help="Distribute the inputs to workers (--workers, --scheduler)."
        ),
    ] = False

    def keywords(self) -> dict[str, Any]:
        """Return workers and scheduler: all cores, unless either is given."""
        asked = {"workers": self.workers, "scheduler": self.scheduler}
        if self.distributed and set(asked.values()) == {None}:
            asked["workers"] = os.cpu_count() or 1
        return asked
