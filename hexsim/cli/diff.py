"""`hexsim diff` shows the differences between two models."""

from typing import Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._groups import grouped
from hexsim.cli._options import ModelArgument
from hexsim.cli._output import Csv
from hexsim.cli._page import paged
from hexsim.cli._say import say
from hexsim.errors import spelled, unknown


@paged
@grouped
def diff(
    *,
    first: ModelArgument,
    second: Annotated[str, typer.Argument(help="What to compare it with."), MODEL],
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            help="Compare only layers, parameters, dims, weights, outputs or sections; repeatable.",
        ),
    ] = None,
    outputs: Csv,
) -> None:
    """Compare two models: unique layers, parameters, dimensions, weights, output names."""
    from hexsim.dlc.difference import KINDS, difference
    from hexsim.dlc.loading import load
    from hexsim.reports.network.diff import diff_csv, diff_table

    for kind in show or ():
        if kind not in KINDS:
            raise unknown(spelled("show"), kind, KINDS)
    differences = difference(load(first), load(second)).of(show or KINDS)
    outputs.write(csv=lambda: diff_csv(first, second, differences))
    say(diff_table(first, second, differences))
