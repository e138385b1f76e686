"""Options for the worker processes of a command that can distribute its work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.studies.pool import Pool


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

    @property
    def named(self) -> bool:
        """True if the user selects workers."""
        return self.scheduler is not None or self.workers is not None

    def check(self) -> None:
        """Raise HexsimError if both options are given."""
        if self.scheduler is not None and self.workers is not None:
            raise HexsimError(
                "--workers are processes of this machine; leave it out with --scheduler"
            )

    @contextmanager
    def pool(self) -> Iterator[Pool]:
        """Yield the workers; HexsimError if dask is missing or the scheduler does not answer."""
        from hexsim.studies.processes import workers

        self.check()
        with workers(self.scheduler, self.workers or os.cpu_count() or 1) as pool:
            yield pool


@dataclass(frozen=True)
class SharedOut(Workers):
    """The same for a command that otherwise does its work itself."""

    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed", help="Distribute the inputs to workers (--workers, --scheduler)."
        ),
    ] = False

    @property
    def distributes(self) -> bool:
        """True if workers do the work."""
        return self.distributed or self.named
