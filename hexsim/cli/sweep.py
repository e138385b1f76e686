"""`hexsim sweep` simulates a space of designs point by point, and shows the results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import FILE, Writes
from hexsim.cli._options import AnchorOption, HtmlOption, JsonOption, VtcmOption
from hexsim.cli._output import JsonHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Workers

_MOST_POINTS = 100_000
"""Points above this number need --yes: they take an hour per network on one core or more."""


class _RunsByDefault(Group):
    """A group in which `run` may be left out: `hexsim sweep space.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunsByDefault,
    add_completion=False,
    no_args_is_help=True,
    help="Simulate a space of designs, and show what matters and what is best.",
)


def _answer(values: Mapping[str, Any]) -> Path:
    output: Path | None = values["output"]
    return output or Path(values["space"]).with_suffix(".parquet")


@app.command()
@grouped
def run(
    *,
    space: Annotated[Path, typer.Argument(help="TOML file of the parameters to combine."), FILE],
    output: Annotated[
        Path | None, "Parquet file; default: beside the space.", Writes(named=_answer)
    ] = None,
    workers: Workers,
    anchor: AnchorOption = None,
    vtcm_mb: VtcmOption = None,
    yes: Annotated[bool, f"Simulate more than {_MOST_POINTS} points."] = False,
) -> None:
    """Simulate every point of a space; if interrupted, call it again to continue."""
    from hexsim.api.decide import write_points
    from hexsim.reports.text import number

    assert output is not None, "named by default"
    with TERMINAL.status():
        count = write_points(
            space,
            output,
            anchor=anchor,
            vtcm_mb=vtcm_mb,
            most_points=math.inf if yes else _MOST_POINTS,
            **workers.keywords(),
        )
    points = number(count, "point")
    say(f"{points} in {output}; look at them with: hexsim sweep show {output}")


@app.command()
@paged
def show(
    results: Annotated[Path, typer.Argument(help="File that hexsim sweep wrote."), FILE],
    pareto: Annotated[str, "Figures of the Pareto front, comma separated."] = "latency",
    best: Annotated[str | None, 'Only points with this: "latency_ms < 5".'] = None,
    json: JsonOption = None,
    html: HtmlOption = None,
) -> None:
    """Show the points that nothing beats, and which parameter matters, by variance."""
    from hexsim.api import decide as api

    outputs = JsonHtml(json=json, html=html)
    answer = api.show(results, pareto, best)
    outputs.write(answer)
    say(str(answer))
