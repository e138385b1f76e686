"""`hexsim chips` shows the Snapdragons, and the sources of their constants."""

from typing import Annotated

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import CHIP
from hexsim.cli._say import say
from hexsim.cli._signature import paged

app = typer.Typer(
    cls=Group, add_completion=False, help="Chips: list them, show every constant with its source."
)


@app.callback(invoke_without_command=True)
def chips(context: typer.Context) -> None:
    """List the chips, or run the command that is given."""
    if context.invoked_subcommand is None:
        list_chips()


@app.command("list")
@paged
def list_chips() -> None:
    """List the chips of the SNPE guide's device table; a runtime in brackets is not simulated.

    Chips that are simulated come first. `listed by` is the earliest guide at hand that names one.
    """
    from hexsim.datasheets import chips
    from hexsim.reports.datasheets.chip import chip_table

    say(chip_table([chips.load(name) for name in chips.names()]))


@app.command()
@paged
def show(
    name: Annotated[str, typer.Argument(help="Chip by name or part number, or a TOML file."), CHIP],
) -> None:
    """Show a chip: part numbers, DSP, runtimes, and every constant with confidence and source."""
    from hexsim.datasheets import chips
    from hexsim.reports.datasheets.chip import chip_page

    say(chip_page(chips.load(name)))
