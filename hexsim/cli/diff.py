"""`hexsim diff` shows the differences between two models."""

from collections.abc import Sequence
from typing import Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import ModelArgument, several
from hexsim.cli._output import JsonCsv
from hexsim.cli._say import say
from hexsim.cli._signature import Reads, grouped, paged
from hexsim.results.difference import Kind


@paged
@grouped
def diff(
    *,
    first: ModelArgument,
    second: Annotated[str, typer.Argument(help="What to compare it with."), MODEL],
    show: Annotated[
        Sequence[Kind],
        Reads(list[str] | None, several),
        "Compare only layers, parameters, dims, weights, outputs or sections; repeatable.",
    ] = (),
    outputs: JsonCsv,
) -> None:
    """Compare two models: unique layers, parameters, dimensions, weights, output names."""
    from hexsim.api import networks

    answer = networks.diff(first, second, show)
    outputs.write(answer)
    say(str(answer))
