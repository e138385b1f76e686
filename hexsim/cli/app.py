"""The `hexsim` program: finds the command, whose module alone is imported.

The commands stand here with a line about each, so that the help of the program needs none of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from hexsim import __version__
from hexsim.cli._command import Command, Group, call, join_pairs
from hexsim.cli._files import with_files
from hexsim.cli._help import Row
from hexsim.cli._say import remark, say
from hexsim.cli._signature import option
from hexsim.errors import HexsimError, nearest, spelling_as
from hexsim.files.places import is_there

PANELS: Mapping[str, Mapping[str, str]] = {
    "Simulate": {
        "overview": "Show the answer on a model in one block, as `hexsim MODEL` does.",
        "bench": "Benchmark networks: latency per runtime, measured values, agreement with float.",
        "profile": "Profile one inference: cycles, time, MACs, bytes by memory level and bound of "
        "every layer.",
        "throughput": "Run instances of networks at once: throughput, latencies, utilisation and "
        "what limits.",
        "always-on": "Average power of a network that listens all the time: on the low-power "
        "island, on the DSP.",
        "kernel": "Show how a kernel is blocked, and every packet of its instruction streams.",
        "llm": "Tokens per second, time to the first token and memory of a language model.",
        "compare": "Compare two results, or a phone's profile with a model: networks, runtimes "
        "and layers.",
        "calibrate": "Fit a stack or a chip to latencies measured on your phone, from what is "
        "published.",
        "sweep": "Simulate a space of designs, and show what matters and what is best.",
    },
    "Models": {
        "convert": "Convert a file of ONNX or another framework to a float .dlc file.",
        "quantize": "Quantise a network, calibrating activations on raw inputs or pictures.",
        "info": "List the layers: shapes, runtimes, parameters, MACs, times on a chip.",
        "view": "Write an HTML page: the drawing, and each layer's attributes, encodings and "
        "weights.",
        "diff": "Compare two models: unique layers, parameters, dimensions, weights, output names.",
        "partition": "Show the subnets of AIP, each cut with its reason and cost, and what the "
        "HTA refuses.",
    },
    "Accuracy": {
        "prepare": "Write pictures as raw inputs, with their list: cut, resized, moved and scaled.",
        "run": "Run every input, of a list, a folder or seeded ones, and write the outputs as raw "
        "floats.",
        "validate": "Compare a runtime with float: top-1, top-5, and the error of every layer.",
        "detections": "Judge detections: mean average precision, for one folder of results or "
        "several.",
        "decide": "Choose chip, runtime, quantiser mode and cut: ranked, with reasons, within "
        "your limits.",
    },
    "What there is": {
        "chips": "Chips: list them, show every constant with its source.",
        "stacks": "Software stacks: list them, show every constant.",
        "models": "Built-in networks: seeded weights, and two small trained ones.",
    },
}
"""The commands by heading, with the first sentence of their help."""
NAMES = tuple(name for commands in PANELS.values() for name in commands)
_MOVED: Mapping[str, str] = {
    "report": "is the page of overview now: hexsim overview MODEL --html PAGE",
    "roofline": "is a part of profile now: hexsim profile MODEL --roofline",
    "tradeoff": "is a part of decide now: hexsim decide MODEL --files",
    "help": "is an option: hexsim --help, or hexsim COMMAND --help",
    "list": "stands behind what is listed: hexsim chips list, stacks list or models list",
}
"""Commands of earlier versions, and words that people try, with where their answers are."""
_ON_A_MODEL = "overview"
"""The command for a model that stands where a command is expected."""
_COMPLETING = "_HEXSIM_COMPLETE"
"""The variable in which a shell asks for completions."""


class _Program(Group):
    """All commands; each is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(NAMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return typer.main.get_command(loaded(cmd_name)) if cmd_name in NAMES else None

    def sections(self, ctx: Any) -> Iterator[tuple[str, list[Row]]]:
        for heading, commands in PANELS.items():
            yield heading, [*commands.items()]


app = typer.Typer(
    name="hexsim",
    cls=_Program,
    help="Simulate how Qualcomm's Hexagon DSP runs neural networks.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


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


@cache
def loaded(name: str) -> typer.Typer:
    """Import the file of a command, and return the command, or the group that it is."""
    module_name = name.replace("-", "_")
    module = import_module(f"hexsim.cli.{module_name}")
    program: typer.Typer | None = getattr(module, "app", None)
    if program is None:
        program = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        program.command(name)(getattr(module, module_name))
    for info in program.registered_commands:
        assert info.callback is not None
        info.callback, info.cls = with_files(info.callback), Command
    return program


def commands() -> dict[str, Callable[..., Any]]:
    """Return all commands by their words, such as `bench` or `chips show`, as the help has them."""
    by_words = {}
    for name in NAMES:
        for info in loaded(name).registered_commands:
            assert info.callback is not None
            inner = info.name or info.callback.__name__.replace("_", "-")
            by_words[name if inner == name else f"{name} {inner}"] = info.callback
    return by_words


def run_command(name: str, words: Sequence[str]) -> None:
    """Run the command that `words` begin with; raise HexsimError for a user's mistake."""
    with spelling_as(option):
        _run(name, join_pairs(words))


def _run(name: str, words: list[str]) -> None:
    if not words or words[0].startswith("-") or _COMPLETING in os.environ:
        call(typer.main.get_command(app), words, name)
        return
    if words[0] in _MOVED and not is_there(words[0]):
        raise HexsimError(f"'{words[0]}' {_MOVED[words[0]]}")
    if words[0] not in NAMES:
        _require_model(words[0])
        words = [_ON_A_MODEL, *words]
    first, *rest = words
    command: Any = typer.main.get_command(loaded(first))
    call(command, rest, f"{name} {first}")
    if line := getattr(command, "assumed_chip", None):
        remark(line)


def _require_model(word: str) -> None:
    """Raise HexsimError unless the first word, which is no command, names a model."""
    from hexsim import models

    if "." in word or "/" in word or models.is_name(word) or is_there(word):
        return
    raise HexsimError(
        f"'{word}' is neither a command, a file nor a built-in network; "
        f"{nearest(word, (*NAMES, *models.names()))}"
    )
