"""What a shell may offer for an option: names that are built in, beside the files that it finds."""

from __future__ import annotations

from hexsim.runtimes import RUNTIMES


def chip_names(begun: str) -> list[str]:
    """Chips by the names of hexsim."""
    from hexsim.datasheets import chips

    return [name for name in chips.names() if name.startswith(begun)]


def stack_names(begun: str) -> list[str]:
    """Software releases."""
    from hexsim.datasheets import stacks

    return [name for name in stacks.names() if name.startswith(begun)]


def runtime_names(begun: str) -> list[str]:
    """Runtimes; behind a comma the next one."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in RUNTIMES if name.startswith(last)]


def network_names(begun: str) -> list[str]:
    """Built-in networks."""
    from hexsim import models

    return [name for name in models.names() if name.startswith(begun)]
