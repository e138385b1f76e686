"""Commands and groups of commands: typer's, with our help, and with checks before any import.

A mistyped option, model, chip or stack is reported from the words of the command line, before
typer imports what it converts values with, and before the command imports the simulator.

Words of the command line are rewritten in the style of the SNPE tools, which typer cannot parse:

1. An underscore in the name of an option equals a hyphen: `--input_list` is `--input-list`.
2. Some options take a name and a value as two words. Typer supports repeatable options and options
   of two words, but not both at once. So the two words are joined into one:
   `--input-dim data 1,3,224,224` becomes `--input-dim "data 1,3,224,224"`.
3. The value of some options may be missing: `--use-enhanced-quantizer` alone becomes
   `--use-enhanced-quantizer both`.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hexsim.cli._files import ReadOption, marks
from hexsim.cli._help import Row, command_help, help_text
from hexsim.errors import HexsimError, nearest, spelled
from hexsim.records import dataclass
from hexsim.runtimes import assumed

_UsageError: type[Any] = typer.BadParameter.__mro__[1]
_GIVEN = (str, list, tuple)
"""The types of values that are given; what is not given is None or a mark of typer's."""
_READ: Mapping[Any, Callable[[Any], Any]] = {
    None: lambda default: default,
    str: str,
    Path: Path,
    list[str]: list,
    list[Path]: lambda words: [*map(Path, words)],
}
"""What makes a value of the words of an option (None: of a default), by its type; typer reads other
types, by pydantic."""


@dataclass(frozen=True)
class _Reader:
    """Stands in for a converter of typer, whose import takes long, and each one some time."""

    read: Callable[[Any], Any]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option; one of several words that is not given has none."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        return self.read(value)


class Command(TyperCommand):
    """A command that checks the names of files, chips and stacks first."""

    assumed_chip: str | None = None
    """The line on the chip that is simulated if the words name none; set when it has run."""
    _on_chip: str | None = None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check the words, then let typer convert them."""
        if not ctx.resilient_parsing and self.callback is not None:
            given, *_ = self.make_parser(ctx).parse_args(args=list(args))
            self._read_plain_words(ctx, given)
            if not given.get("help"):
                self._check_names(given)
        return super().parse_args(ctx, args)

    def _read_plain_words(self, ctx: Any, given: Mapping[str, Any]) -> None:
        """Let words and paths, and what is not given, do without a converter of typer."""
        for param in self.get_params(ctx):
            is_given = isinstance(given.get(param.name), _GIVEN)
            described = getattr(param, "type_descriptor", None) if is_given else None
            if read := _READ.get(described and described.annotation):
                vars(param)["get_runtime_param"] = partial(_Reader, read)

    def _check_names(self, given: Mapping[str, Any]) -> None:
        """Require what the words name, and note the chip that is simulated if they name none."""
        assert self.callback is not None
        parameters = inspect.signature(self.callback).parameters
        for name, mark in marks(self.callback).items():
            if isinstance(mark, ReadOption) and isinstance(given.get(name), _GIVEN):
                mark.require(given[name])
            elif name in ("chip", "chips") and (chip := parameters[name].default):
                option = next(param.opts[0] for param in self.params if param.name == name)
                self._on_chip = assumed(chip, f"no {option} is given")

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        result = super().invoke(ctx)
        self.assumed_chip = self._on_chip
        return result

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        assert self.callback is not None
        formatter.write(command_help(ctx.command_path, self.callback))


class Group(TyperGroup):
    """A group of commands, with our help; without a word behind it, it prints the help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help if nothing is given."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, args)

    def sections(self, ctx: Any) -> Iterator[tuple[str, list[Row]]]:
        """Yield the commands under their headings, each with a line about it."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, inner.help or "") for name, inner in commands.items() if inner is not None]
        yield "Commands", [(name, text.split("\n\n")[0]) for name, text in rows]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        options: list[Any] = [*self.get_params(ctx)]
        sections = dict(self.sections(ctx))
        sections["Options"] = [(", ".join(param.opts), param.help or "") for param in options]
        formatter.write(help_text(f"{ctx.command_path} COMMAND", self.help or "", sections))


def call(command: Any, words: Sequence[str], name: str) -> None:
    """Run a command called `name`; raise HexsimError for a mistake in its words."""
    try:
        code = command.main(args=[*words], prog_name=name, standalone_mode=False)
    except _UsageError as error:
        raise HexsimError(_sentence(error, name)) from None
    if isinstance(code, int) and code:
        raise SystemExit(code)


def _sentence(error: Any, name: str) -> str:
    """Return what is wrong with the words of a command line, and what to do."""
    path = error.ctx.command_path if error.ctx is not None else name
    option = str(getattr(error, "option_name", ""))
    if hasattr(error, "possibilities"):
        taken = error.ctx.command.params
        known = {opt for param in taken for opt in (*param.opts, *param.secondary_opts)}
        similar = nearest(option, {text for text in known if text.startswith("--")})
        hint = similar if similar.startswith("did") else f"{path} --help lists those that it has"
        return f"'{path}' has no option '{option}'; {hint}"
    taken = getattr(error, "param", None)
    if taken is not None and taken.param_type_name == "option":
        name = spelled(taken.name or "")
        if name not in taken.opts:
            error.param_hint = f"'{name}'"
    text = error.format_message().strip().rstrip(".")
    text = text.replace("Input should be", "it should be").replace("Value error, ", "")
    text = text.partition(", unable to parse")[0]
    # Older versions of typer leave numbers to click, which has other words.
    text = re.sub(r"'[^']*' is not a valid (\w+)( range)?$", r"it should be a valid \1", text)
    text = text.replace("valid float", "valid number")
    return f"{text[:1].lower()}{text[1:]}; {path} --help says what it takes"


PAIRED = frozenset({"--input-dim", "--input-encoding", "--input-type", "--input-value"})
OPTIONAL = {"--use-enhanced-quantizer": (("weights", "activations", "both"), "both")}
"""The values that each option takes, and its value if none of them follows."""


def join_pairs(words: Sequence[str]) -> list[str]:
    """Return the command line with exactly one word after each of these options.

    Underscores in the names of options become hyphens.
    """
    joined, rest = [], list(words)
    while rest:
        word = _hyphenated(rest.pop(0))
        joined.append(word)
        if word in PAIRED and len(rest) >= 2 and " " not in rest[0]:
            joined.append(f"{rest.pop(0)} {rest.pop(0)}")
        if word in OPTIONAL:
            values, missing = OPTIONAL[word]
            if not rest or rest[0] not in values:
                joined.append(missing)
    return joined


def _hyphenated(word: str) -> str:
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
