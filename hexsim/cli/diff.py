"""`hexsim diff`: in what two models differ."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._files import MODEL
from hexsim.cli._options import ModelArgument
from hexsim.cli._say import say


def diff(
    first: ModelArgument,
    second: Annotated[str, typer.Argument(help="What to compare it with."), MODEL],
) -> None:
    """Compare two models: unique layers, parameters, dimensions, weights, output names."""
    from hexsim.container.difference import difference
    from hexsim.container.loading import load
    from hexsim.reports.diff_table import diff_table

    say(diff_table(first, second, difference(load(first), load(second))))
