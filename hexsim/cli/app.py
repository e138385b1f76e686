"""The `hexsim` program: assembles the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from hexsim import __version__
from hexsim.cli import (
    always_on,
    bench,
    calibrate,
    chips,
    compare,
    convert,
    decide,
    detections,
    diff,
    info,
    kernel,
    llm,
    models,
    partition,
    prepare,
    profile,
    quantize,
    report,
    roofline,
    run,
    stacks,
    sweep,
    throughput,
    tradeoff,
    validate,
    view,
)
from hexsim.cli._files import guard
from hexsim.cli._pairs import join_pairs
from hexsim.cli._say import say

app = typer.Typer(
    name="hexsim",
    help="Simulate how Qualcomm's Hexagon DSP runs neural networks.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
for _panel, _commands in (
    (
        "Simulate",
        (
            bench.bench,
            profile.profile,
            throughput.throughput,
            always_on.always_on,
            roofline.roofline,
            kernel.kernel,
            llm.llm,
            report.report,
            compare.compare,
            calibrate.calibrate,
        ),
    ),
    (
        "Models",
        (
            convert.convert,
            quantize.quantize,
            info.info,
            view.view,
            diff.diff,
            partition.partition,
        ),
    ),
    (
        "Accuracy",
        (
            prepare.prepare,
            run.run,
            validate.validate,
            detections.detections,
            tradeoff.tradeoff,
            decide.decide,
        ),
    ),
):
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
app.add_typer(sweep.app, name="sweep", rich_help_panel="Simulate")
for _name, _group in (("chips", chips.app), ("stacks", stacks.app), ("models", models.app)):
    app.add_typer(_group, name=_name, rich_help_panel="What there is")
guard(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"hexsim {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def run_command(name: str, words: Sequence[str]) -> None:
    """Run the command that `words` begin with; raise HexsimError for a user's mistake."""
    app(args=join_pairs(words), prog_name=name)
