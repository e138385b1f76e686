"""`hexsim sweep` simulates a space of designs point by point, and shows the results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import FILE, Writes
from hexsim.cli._options import AnchorOption, HtmlOption, JsonOption, VtcmOption
from hexsim.cli._output import JsonHtml
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._workers import Workers
from hexsim.errors import HexsimError

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
        Path | None,
        typer.Option("--output", "-o", help="Parquet file; default: beside the space."),
        Writes(named=_answer),
    ] = None,
    workers: Workers,
    anchor: AnchorOption = None,
    vtcm: VtcmOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Simulate more than {_MOST_POINTS} points.")
    ] = False,
) -> None:
    """Simulate every point of a space; if interrupted, call it again to continue."""
    from hexsim.cli._progress import bar, status
    from hexsim.cli._stopping import keeping
    from hexsim.reports.text import number
    from hexsim.studies.sweep import table
    from hexsim.studies.sweep.space import read_space
    from hexsim.studies.sweep.table import planned, simulate_parts

    assert output is not None, "named by default"
    workers.check()
    table.require_libraries()
    design = read_space(space).stated_by(anchor, vtcm)
    if design.count > _MOST_POINTS and not yes:
        raise HexsimError(
            f"the space of '{space}' has {design.count} points; make it smaller, or give --yes"
        )
    with status() as progress:
        parts = planned(design, output, progress)
    with (
        keeping(f"points that are done are kept in '{parts.folder}'"),
        workers.pool() as pool,
        bar(f"{len(parts.points)} points; {pool.description}", len(parts.points)) as done,
    ):
        simulate_parts(pool, parts, done)
    parts.finish(output)
    count = number(len(parts.points), "point")
    say(f"{count} in {output}; look at them with: hexsim sweep show {output}")


@app.command()
@paged
def show(
    results: Annotated[Path, typer.Argument(help="File that hexsim sweep wrote."), FILE],
    pareto: Annotated[
        str, typer.Option("--pareto", help="Figures of the Pareto front, comma separated.")
    ] = "latency",
    best: Annotated[
        str | None, typer.Option("--best", help='Only points with this: "latency_ms < 5".')
    ] = None,
    json: JsonOption = None,
    html: HtmlOption = None,
) -> None:
    """Show the points that nothing beats, and which parameter matters, by variance."""
    from hexsim.studies.sweep.analysis import analysed
    from hexsim.studies.sweep.table import read

    outputs = JsonHtml(json=json, html=html)
    sweep = analysed(read(results), pareto, best, str(results))

    def page() -> str:
        from hexsim.reports.pages.sweep_page import sweep_page

        return sweep_page(sweep, command_line())

    outputs.write(json=sweep.to_json, html=page)
    say(str(sweep))
