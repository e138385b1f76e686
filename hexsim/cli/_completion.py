"""Built-in names that a shell may offer for an option, besides files."""

from hexsim.runtimes import RUNTIMES


def chip_names(begun: str) -> list[str]:
    """Return the names of chips."""
    from hexsim.datasheets import chips

    return [name for name in chips.names() if name.startswith(begun)]


def stack_names(begun: str) -> list[str]:
    """Return the names of software releases."""
    from hexsim.datasheets import stacks

    return [name for name in stacks.names() if name.startswith(begun)]


def runtime_names(begun: str) -> list[str]:
    """Return the names of runtimes; after a comma, complete the last name."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in RUNTIMES if name.startswith(last)]


def network_names(begun: str) -> list[str]:
    """Return the names of built-in networks."""
    from hexsim import models

    return [name for name in models.names() if name.startswith(begun)]
