"""`hexsim chips`: the Snapdragons and where their numbers come from."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._files import FILE
from hexsim.cli._page import paged
from hexsim.cli._say import say

app = typer.Typer(
    help="Chips: list them, show every constant with its source.", no_args_is_help=True
)


@app.command("list")
@paged
def list_chips() -> None:
    """List the chips; a runtime in brackets cannot be simulated, its data is not known.

    Chips that can be simulated come first.
    """
    from hexsim.platforms import chips
    from hexsim.reports.text import table

    rows = []
    known = [chips.load(name) for name in chips.names()]
    for chip in sorted(known, key=lambda chip: not any(map(chip.simulates, chip.runtimes))):
        runtimes = (r if chip.simulates(r) else f"({r})" for r in chip.runtimes)
        rows.append((chip.name, chip.title, chip.default_stack, " ".join(runtimes)))
    say(table(("chip", "name", "stack", "runtimes"), rows, left=frozenset(range(4))))


@app.command()
@paged
def show(name: Annotated[str, typer.Argument(help="Chip name, or a TOML file."), FILE]) -> None:
    """Show every constant of a chip: value, unit, confidence and source."""
    from hexsim.platforms import chips
    from hexsim.reports.datasheet_table import datasheet_table

    say(datasheet_table(chips.load(name)))
