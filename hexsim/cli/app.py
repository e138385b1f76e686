"""The `hexsim` program: assembles the commands and turns user errors into exit code 2."""

from __future__ import annotations

import os
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
from hexsim.cli._pairs import join_pairs
from hexsim.cli._say import remark, say
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


def main() -> None:
    """Run the program; a `HexsimError` becomes one sentence on stderr and exit code 2."""
    try:
        app(args=join_pairs(sys.argv[1:]), prog_name="hexsim")
    except HexsimError as error:
        remark(f"hexsim: {visible(str(error))}")
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe (head, less) left: not an error, but stdout must not be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
