"""Runs an SNPE tool: translates its command line for our command, which does the work."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import typer

from hexsim import discovery
from hexsim.cli._command import Command, call
from hexsim.cli._files import with_files
from hexsim.cli._say import log, logged, say
from hexsim.cli._signature import option as our_option
from hexsim.errors import HexsimError, option_of, spelling_as, unknown
from hexsim.snpe.option import Effect, Option, Tool, read_table
from hexsim.snpe.words import TypedOption, check, help_text, read, version

_FOUND: Mapping[str, Tool] = discovery.joined("hexsim.snpe.tools", "TOOLS")
TOOLS = {name: _FOUND[name] for name in (*read_table("tools"), *read_table("instead"))}
"""Every tool by its name, in the order of the tables."""

_HELP = Option(("--help", "-h"), (), "Print this and end.", Effect("anyway"))
_VERSION = Option(("--version",), (), "Print the version and end.", Effect("anyway"))


def run_tool(name: str, words: Sequence[str]) -> None:
    """Run a tool; raise HexsimError with the tool's own option names for a user's mistake."""
    if name not in TOOLS:
        raise unknown("tool", name, TOOLS)
    tool = TOOLS[name]
    if tool.refusal and not {"--help", "-h", "--version"} & set(words):
        raise HexsimError(tool.refusal)
    parsed = read((*tool.options, _HELP, _VERSION), words)
    options = [option for option, _ in parsed]
    if _HELP in options:
        say(help_text(tool, (_HELP, _VERSION)))
    elif _VERSION in options:
        say(version())
    else:
        _call(tool, parsed)


def _call(tool: Tool, parsed: list[TypedOption]) -> None:
    typed = [option for option, _ in parsed]
    parsed = [*_from_environment(tool, typed), *parsed]
    for option in tool.options:
        if option.is_required and option not in typed:
            raise HexsimError(f"{option.name} is missing; {tool.name} --help says what it takes")
    parsed, dropped = _without_overruled(parsed)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(cls=Command)(with_files(tool.command))
    with logged(tool.log), spelling_as(partial(their_option, tool.name)):
        for line in dict.fromkeys((*dropped, *_remarks(parsed))):
            log("WARNING", line)
        call(typer.main.get_command(app), translated(tool, parsed), tool.name)


def _without_overruled(parsed: Sequence[TypedOption]) -> tuple[list[TypedOption], list[str]]:
    """Return the options without those that others leave no meaning, and a remark for each."""
    kept, dropped = [], []
    for option, values in parsed:
        stronger = [
            " ".join((other.name, *chosen))
            for other, chosen in parsed
            if other.name in option.gives_way_to
            and _is_among(chosen, option.gives_way_to[other.name])
        ]
        beside = option.only_beside.items()
        if beside and not any(
            (other.name, chosen[-1]) in beside for other, chosen in parsed if chosen
        ):
            needed = " or ".join(map(" ".join, beside))
            dropped.append(f"{option.name} changes nothing without {needed}")
        elif stronger:
            dropped.append(f"{option.name} changes nothing beside {', '.join(stronger)}")
        else:
            kept.append((option, values))
    return kept, dropped


def _is_among(values: tuple[str, ...], known: tuple[str, ...]) -> bool:
    return not known or values[-1] in known


def _from_environment(tool: Tool, typed: Sequence[Option]) -> Iterator[TypedOption]:
    for option in tool.options:
        value = os.environ.get(option.variable) if option.variable else None
        if value and option not in typed:
            check(option, option.variable, value)
            yield option, (value,)


def _remarks(parsed: Sequence[TypedOption]) -> Iterator[str]:
    """Yield a remark for each ignored option; raise HexsimError for a refused one."""
    for option, values in parsed:
        effect = option.becomes(values)
        label = f"{option.name} {values[-1]}" if isinstance(option.effect, Mapping) else option.name
        if effect.kind == "refused":
            raise HexsimError(f"{label}: {effect.why}")
        if effect.kind == "ignored":
            yield f"{label} changes nothing: {effect.why}"


def translated(tool: Tool, parsed: Sequence[TypedOption]) -> list[str]:
    """Return the words of our command: options as given, then arguments in the table's order."""
    typed = [option for option, _ in parsed]
    words = [*tool.always]
    words += [word for option in tool.options if option not in typed for word in option.otherwise]
    arguments: dict[str, str] = {}
    for option, values in parsed:
        effect = option.becomes(values)
        value = [] if isinstance(option.effect, Mapping) or not values else [" ".join(values)]
        if effect.words:
            words += (*effect.words, *value)
        elif effect.kind == "ours":
            arguments[option.name] = value[0]
    ordered = (arguments[option.name] for option in tool.options if option.name in arguments)
    return [*words, "--", *ordered]


def their_option(tool_name: str, name: str, value: object = None) -> str:
    """Return a parameter as an option of a tool with its value, or else of another tool.

    The tools of its family come first: snpe, qairt or qnn. What no tool has is our option.
    """
    ours, family = our_option(name), tool_name.split("-")[0]
    others = sorted(TOOLS.values(), key=lambda other: other.name.split("-")[0] != family)
    return option_of(
        next(
            (
                option.name
                for tool in (TOOLS[tool_name], *others)
                for option in tool.options
                if _is_for(option, ours)
            ),
            ours,
        ),
        value,
    )


def _is_for(option: Option, ours: str) -> bool:
    """Return whether an option gives nothing but options of ours, of which this is the first."""
    words = option.effect.words if isinstance(option.effect, Effect) else ()
    return words[:1] == (ours,) and all(word.startswith("--") for word in words)
