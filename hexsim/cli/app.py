"""The `hexsim` program: assembles the commands and turns user errors into exit code 2."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hexsim import __version__
from hexsim.cli import (
    bench,
    calibrate,
    chips,
    convert,
    diff,
    info,
    kernel,
    models,
    partition,
    profile,
    quantize,
    roofline,
    run,
    stacks,
    throughput,
    tradeoff,
    validate,
)
from hexsim.cli._files import guard
from hexsim.cli._pairs import join_pairs
from hexsim.cli._say import remark, say
from hexsim.cli._streams import forgiving_streams
from hexsim.cli._system import of_the_system
from hexsim.errors import HexsimError
from hexsim.graph.names import visible

app = typer.Typer(
    name="hexsim",
    help="Simulate how Qualcomm's Hexagon DSP runs neural networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _panel, _commands in (
    (
        "Simulate",
        (
            bench.bench,
            profile.profile,
            throughput.throughput,
            roofline.roofline,
            kernel.kernel,
            calibrate.calibrate,
        ),
    ),
    ("Models", (convert.convert, quantize.quantize, info.info, diff.diff, partition.partition)),
    ("Accuracy", (run.run, validate.validate, tradeoff.tradeoff)),
):
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
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


def run_program() -> None:
    """Run the program; whatever the user can mend is one sentence on stderr and exit code 2."""
    with forgiving_streams():
        code, sentence = _ended()
        if sentence is not None:
            remark(f"hexsim: {visible(sentence)}")
    sys.exit(code)


def _ended() -> tuple[str | int | None, str | None]:
    """Run the program to its end: exit code, and what is to be said of a failure."""
    try:
        app(args=join_pairs(sys.argv[1:]), prog_name="hexsim")
    except SystemExit as ended:
        return ended.code, None
    except HexsimError as error:
        return 2, str(error)
    except (MemoryError, ImportError, RuntimeError, OSError) as error:
        sentence = of_the_system(error)
        if sentence is None:
            raise
        return 2, sentence
    return 0, None
