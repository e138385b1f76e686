"""The commands that answer questions, as Python functions of `hexsim`.

A function takes the arguments of its command, and its options as keywords: `idle_ms=5` for
`--idle-ms 5`. It runs the same code and returns the report instead of printing it, so that both
give the same text and the same files. Where the command takes the name of a file, the function also
takes what the file would hold: a model, arrays of inputs, lines of a list, a report.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo

from hexsim.cli._files import Writes, marks
from hexsim.cli._page import window
from hexsim.cli._say import Collected, collecting
from hexsim.dlc.loading import ModelInMemory
from hexsim.errors import HexsimError, require_number, unknown, unknown_keyword
from hexsim.inputs.source import GivenInputs
from hexsim.quantization.model import Model
from hexsim.reports.report import Report
from hexsim.results.document import Document

COMMANDS = {"compare_measured": "compare"}
"""Each function with its command."""

_ALIASES = {"inputs": "input_list", "calibration": "calibration_list"}
"""Keywords for arrays, in the words of `quantize` and `simulate`, with their options."""


def __getattr__(name: str) -> Callable[..., Report]:
    if name not in COMMANDS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    function = globals()[name] = _function(name)
    return function


def _function(name: str) -> Callable[..., Report]:
    """Return the function called `name`."""
    command = getattr(import_module(f"hexsim.cli.{COMMANDS[name]}"), COMMANDS[name])
    files = {option for option, mark in marks(command).items() if isinstance(mark, Writes)}
    declared = inspect.signature(command).parameters
    options = {key: _Option(name, p) for key, p in declared.items() if key not in files}
    options |= {key: options[option] for key, option in _ALIASES.items() if option in options}
    defaults = {key: p.default for key, p in declared.items() if p.default is not p.empty}
    # Some results are counted or recorded only for files; --rows is refused without --measured.
    defaults |= dict.fromkeys(files - {"rows"}, Path("collected"))

    def call(*arguments: Any, **given: Any) -> Report:
        words = (*map(_spoken, arguments), *(f"{key}={_spoken(given[key])}" for key in given))
        report, code = Collected(f"hexsim.{name}({', '.join(words)})"), 0
        bound = _bound(name, options, arguments, given)
        with TemporaryDirectory(prefix="hexsim-") as folder, collecting(report), window():
            values = {
                _ALIASES.get(keyword, keyword): options[keyword].read(value, Path(folder))
                for keyword, value in bound.items()
            }
            try:
                command(**defaults | values)
            except typer.Exit as early_exit:
                code = early_exit.exit_code
        contents = {kind: partial(report.made, kind) for kind in report.files}
        return Report("\n".join(report.printed), tuple(report.remarks), contents, code)

    call.__name__ = call.__qualname__ = name
    meanings = (f"{keyword}: {option.info.help}" for keyword, option in options.items())
    call.__doc__ = "\n".join((inspect.getdoc(command) or "", "", *meanings))
    shown = sorted((option.shown(key) for key, option in options.items()), key=lambda p: p.kind)
    call.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return call


def _bound(
    name: str, options: Mapping[str, _Option], arguments: Sequence[Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values by keyword; a list of models takes all arguments that remain."""
    for keyword in given:
        if keyword not in options:
            raise unknown_keyword(name, keyword, options)
    bound, values = dict(given), list(arguments)
    for keyword, option in options.items():
        if option.is_argument and values and keyword not in bound:
            bound[keyword] = values[:] if option.kind is list else values[0]
            del values[: len(values) if option.kind is list else 1]
        if option.is_required and keyword not in bound:
            raise HexsimError(f"hexsim.{name} needs '{keyword}'; give it first")
    if values:
        raise HexsimError(f"hexsim.{name} takes its options as keywords; name {values[0]!r:.80}")
    return bound


def _spoken(value: Any) -> str:
    """Return a value as it is written in a call; objects go by their types."""
    is_plain = value is None or isinstance(value, str | Path | int | float)
    return repr(value) if is_plain else type(value).__name__


class _Option:
    """An option or argument of a command, which reads Python values."""

    def __init__(self, function: str, parameter: inspect.Parameter) -> None:
        self._function, self._parameter, self._name = function, parameter, parameter.name
        self._type, *metadata = get_args(parameter.annotation)
        self.info = next(m for m in metadata if isinstance(m, ArgumentInfo | OptionInfo))
        self.is_argument = isinstance(self.info, ArgumentInfo)
        self.is_required = parameter.default is parameter.empty
        types = get_args(self._type) if NoneType in get_args(self._type) else (self._type,)
        self._may_be_none = NoneType in types
        declared = next(each for each in types if each is not NoneType)
        self.kind = get_origin(declared) or declared
        self._choices = get_args(declared) if self.kind is Literal else ()

    def shown(self, keyword: str) -> inspect.Parameter:
        """Return the parameter for help and completion."""
        kinds = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY
        kind = kinds[self.is_argument]
        return self._parameter.replace(name=keyword, kind=kind, annotation=self._type)

    def read(self, value: Any, folder: Path) -> Any:
        """Return the value for the command, which reads files in `folder`; or raise HexsimError."""
        if value is None and self._may_be_none:
            return None
        if self.kind is list:
            if isinstance(value, Mapping):
                return [f"{name} {self._word(element, folder)}" for name, element in value.items()]
            listed = value if isinstance(value, list | tuple) else [value]
            return [self._word(element, folder) for element in listed]
        if self.kind is Path:
            return self._path(value, folder)
        if self.kind in (int, float):
            least, most = getattr(self.info, "min", None), getattr(self.info, "max", None)
            least, most = -math.inf if least is None else least, math.inf if most is None else most
            require_number(self._name, value, least, most)
            if self.kind(value) != value:
                raise self._wrong(value, "a whole number")
            return self.kind(value)
        if self._choices and value not in self._choices:
            raise unknown(self._name, value, self._choices)
        if self.kind is bool and not isinstance(value, bool):
            raise self._wrong(value, "True or False")
        return value if self.kind is bool else self._word(value, folder)

    def _word(self, value: Any, folder: Path) -> str:
        if isinstance(value, Model):
            return ModelInMemory(value)
        if isinstance(value, list | tuple):
            return ",".join(self._word(element, folder) for element in value)
        is_answer = isinstance(value, Report | Document)
        return str(self._path(value, folder) if is_answer else value)

    def _path(self, value: Any, folder: Path) -> Path | GivenInputs:
        if isinstance(value, str | Path):
            return Path(value)
        file = folder / self._name
        if isinstance(value, Document):
            value.save(file.with_suffix(".json"))
            return file.with_suffix(".json")
        if isinstance(value, Report):
            value.save(file, "json")
        elif self._name in _ALIASES.values():
            return GivenInputs(value)
        elif isinstance(value, list | tuple):
            file.write_text("".join(f"{line}\n" for line in value), "utf-8")
        else:
            raise self._wrong(value, "a file")
        return file

    def _wrong(self, value: Any, expected: str) -> HexsimError:
        name = f"hexsim.{self._function}: {self._name}"
        return HexsimError(f"{name} is {expected}, not {value!r:.80}")
