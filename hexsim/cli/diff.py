"""`hexsim diff` shows the differences between two models."""

from typing import Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import ModelArgument
from hexsim.cli._output import JsonCsv
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged


@paged
@grouped
def diff(
    *,
    first: ModelArgument,
    second: Annotated[str, typer.Argument(help="What to compare it with."), MODEL],
    show: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only layers, parameters, dims, weights, outputs or sections; repeatable."
        ),
    ] = None,
    outputs: JsonCsv,
) -> None:
    """Compare two models: unique layers, parameters, dimensions, weights, output names."""
    from hexsim.api import networks

    answer = networks.diff(first, second, show or ())
    outputs.write(answer)
    say(str(answer))
