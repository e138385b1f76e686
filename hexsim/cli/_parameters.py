"""What a command takes, in words: read from its annotations, for its help and its page."""

import inspect
import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo

from hexsim.cli._files import CHIP, INPUT_LIST, MODEL, PICTURES, STACK, ReadOption, Writes
from hexsim.cli._signature import OTHER_OPTIONS, Heading, option
from hexsim.records import dataclass

_PLAIN = {str: "text", int: "integer", float: "number", bool: "flag"}
_READ = {
    MODEL: "model",
    CHIP: "chip",
    STACK: "stack",
    PICTURES: "folder, read",
    INPUT_LIST: "list, read",
}
_PLACEHOLDERS = {"integer": "N", "number": "X", "flag": ""}
_WIDEST_CHOICES = 24
"""Characters of choices that are shown behind the name of an option; more are in its help."""


@dataclass(frozen=True)
class Parameter:
    """An option or argument of a command."""

    names: tuple[str, ...]
    kind: str
    choices: tuple[str, ...]
    metavar: str | None
    default: str
    help: str
    heading: str
    is_option: bool

    @property
    def is_required(self) -> bool:
        """Whether the command does not run without it."""
        return self.default == "required"

    @property
    def in_call(self) -> str:
        """How it stands in the line that calls the command."""
        if self.is_option:
            return f"{self.names[0]} {self.kind.split(',')[0].upper()}"
        return self.names[0] if self.is_required else f"[{self.names[0]}]"

    @property
    def placeholder(self) -> str:
        """What stands for the value behind the name of an option: nothing for a flag."""
        if self.choices:
            listed = "|".join(self.choices)
            return listed if len(listed) <= _WIDEST_CHOICES else "CHOICE"
        word = self.kind.split(",")[0]
        return self.metavar or _PLACEHOLDERS.get(word, word.upper())

    @property
    def remarks(self) -> str:
        """The help, with the choices that the placeholder does not list, and the default."""
        text = self.help
        if self.choices and self.placeholder == "CHOICE":
            text += f" One of {', '.join(self.choices)}."
        if self.default not in ("", "required", "on"):
            text += f" [default: {self.default}]"
        return text


def parameters(command: Callable[..., Any]) -> list[Parameter]:
    """Return what a command takes: what must be given first, then as declared."""
    hints = get_type_hints(command, include_extras=True)
    declared = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *metadata = get_args(hints.get(name, parameter.annotation)) or (None,)
        info = next((m for m in metadata if isinstance(m, ArgumentInfo | OptionInfo)), None)
        if info is not None and not info.hidden:
            declared.append(_parameter(parameter, kind, info, metadata))
    return sorted(declared, key=lambda parameter: not parameter.is_required)


def _parameter(
    parameter: inspect.Parameter, kind: Any, info: ArgumentInfo | OptionInfo, metadata: list[Any]
) -> Parameter:
    mark = next((m for m in metadata if isinstance(m, ReadOption | Writes)), None)
    headings = [m.text for m in metadata if isinstance(m, Heading)]
    bare = _without_none_and_list(kind)
    names = _names(parameter.name, info, several=get_origin(kind) is list)
    negative = bare is bool and all(name.startswith("--no-") for name in names)
    return Parameter(
        names,
        _kind(bare, info, mark),
        get_args(bare) if get_origin(bare) is Literal else (),
        info.metavar if isinstance(info.metavar, str) else None,
        "" if negative else _default(parameter.default),
        " ".join((info.help or "").split()),
        headings[-1] if headings else OTHER_OPTIONS,
        isinstance(info, OptionInfo),
    )


def _names(name: str, info: ArgumentInfo | OptionInfo, *, several: bool) -> tuple[str, ...]:
    if isinstance(info, ArgumentInfo):
        return ((info.metavar or name.upper()).strip("[]") + ("..." if several else ""),)
    declared = [info.default, *(info.param_decls or ())]
    given = [part for text in declared if isinstance(text, str) for part in text.split("/")]
    names = [text for text in given if text.startswith("-")]
    return (*sorted(names, key=lambda text: not text.startswith("--")),) or (option(name),)


def _kind(bare: Any, info: ArgumentInfo | OptionInfo, mark: ReadOption | Writes | None) -> str:
    """Return what may be given: a mark of files says more than a type."""
    if isinstance(mark, Writes):
        return "folder, written" if mark.folder else "file, written"
    if mark is not None and mark in _READ:
        return _READ[mark]
    if get_origin(bare) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(bare))
    if bare in _PLAIN:
        return _PLAIN[bare] + _bounds(info.min, info.max)
    return "file, read"


def _bounds(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low:g} or more"
    return f", {high:g} or less" if low is None else f", {low:g} to {high:g}"


def _without_none_and_list(kind: Any) -> Any:
    if get_origin(kind) in (types.UnionType, Union):
        (kind,) = (get_arg for get_arg in get_args(kind) if get_arg is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _default(value: Any) -> str:
    if value in (inspect.Parameter.empty, ...):
        return "required"
    if value is None or value is False or value in ("", [], ()):
        return ""
    return "on" if value is True else str(value)
