"""`hexsim sweep` simulates a space of designs point by point, and shows the results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._command import Group
from hexsim.cli._files import FILE, Writes
from hexsim.cli._groups import grouped
from hexsim.cli._options import AnchorOption, HtmlOption, JsonOption, VtcmOption
from hexsim.cli._output import JsonHtml
from hexsim.cli._page import paged
from hexsim.cli._say import command_line, say
from hexsim.cli._workers import Workers
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.studies.sweep.table import Swept

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


def _answer(given: Mapping[str, Any]) -> Path:
    output: Path | None = given["output"]
    return output or Path(given["space"]).with_suffix(".parquet")


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
    from hexsim.files import outside_transaction, write_bytes
    from hexsim.reports.text import number
    from hexsim.studies.sweep import engine, table
    from hexsim.studies.sweep.parts import SweepParts
    from hexsim.studies.sweep.points import Points
    from hexsim.studies.sweep.settings import settings
    from hexsim.studies.sweep.space import read_space

    assert output is not None, "named by default"
    workers.check()
    table.require_libraries()
    design = read_space(space)
    if anchor is not None:
        design = design.model_copy(update={"anchor": anchor})
    if vtcm is not None:
        design = design.model_copy(update={"vtcm_mb": (vtcm,) if vtcm else None})
    if design.count > _MOST_POINTS and not yes:
        raise HexsimError(
            f"the space of '{space}' has {design.count} points; make it smaller, or give --yes"
        )
    with status() as progress:
        listed = settings(design, progress)
    points = Points(design.calibrated_with(listed[0].platform.anchor), listed)
    parts = SweepParts(output.with_name(f"{output.name}.parts"), points)
    parts.open()
    with (
        keeping(f"points that are done are kept in '{parts.folder}'"),
        workers.pool() as pool,
        bar(f"{len(points)} points; {pool.description}", len(points)) as done,
    ):
        engine.simulate_parts(pool, points, parts, done)
    with outside_transaction():  # the parts are removed only after the results are written
        write_bytes(output, parts.whole())
    parts.remove()
    count = number(len(points), "point")
    say(f"{count} in {output}; look at them with: hexsim sweep show {output}")


def _nothing(swept: Swept, results: Path, best: str | None) -> str:
    """Return why there is no point to show."""
    reason = next(filter(None, swept.table["refusal"].to_pylist()), None)
    if best is None:
        return f"all points of '{results}' were refused, the first because {reason}"
    return f"no point of '{results}' satisfies \"{best}\"; ask for less"


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
    from hexsim.reports.pages.command_pages import sweep_page
    from hexsim.reports.sweep import effects_table, front_table, summary, sweep_facts
    from hexsim.studies.sweep.effects import effects
    from hexsim.studies.sweep.front import figure, front, satisfying
    from hexsim.studies.sweep.table import read

    outputs = JsonHtml(json=json, html=html)
    outputs.check()
    swept = read(results)
    named = (figure(swept, name.strip()) for name in pareto.split(","))
    figures = list(dict.fromkeys(named))
    among = satisfying(swept, best) if best is not None else None
    rows = front(swept, figures, among)
    if not rows:
        raise HexsimError(_nothing(swept, results, best))
    effects_of_figures = [effects(swept, name) for name in figures]
    outputs.write(
        json=lambda: sweep_facts.json(swept, rows, figures, effects_of_figures),
        html=lambda: sweep_page(swept, rows, figures, effects_of_figures, command_line()),
    )
    say(f"{summary(swept)}\n")
    say(f"{front_table(swept, rows, figures)}\n")
    say("\n\n".join(map(effects_table, effects_of_figures)))
