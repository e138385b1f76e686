"""`hexsim stacks` shows the software releases, and the sources of their constants."""

from typing import Annotated

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import STACK
from hexsim.cli._say import say
from hexsim.cli._signature import paged

app = typer.Typer(
    cls=Group,
    add_completion=False,
    help="Software stacks: list them, show every constant.",
    no_args_is_help=True,
)


@app.command("list")
@paged
def list_stacks() -> None:
    """List the software stacks with their runtimes and default performance profile."""
    from hexsim.datasheets import stacks
    from hexsim.reports.text import table

    rows = []
    for name in stacks.names():
        stack = stacks.load(name)
        rows.append((stack.name, stack.title, stack.default_profile, " ".join(stack.runtimes)))
    header = ("stack", "name", "default profile", "runtimes")
    say(table(header, rows, left=frozenset(range(4))))


@app.command()
@paged
def show(name: Annotated[str, typer.Argument(help="Stack name, or a TOML file."), STACK]) -> None:
    """Show every constant of a stack: value, unit, confidence and source."""
    from hexsim.datasheets import stacks
    from hexsim.reports.datasheets.table import datasheet_table

    say(datasheet_table(stacks.load(name)))
