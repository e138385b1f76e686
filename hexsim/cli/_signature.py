"""How commands are wrapped: groups of options become options, and reports get a width.

A command takes a dataclass, and its fields are options of the command. Those of a `Keywords` have
the names and the types of a public function's parameters, which `Reads` makes of what is typed. The
text in the annotation of an option is its help; `typer.Option` says more, where that is needed. An
option that states no name has the one that messages give its parameter (`option`).
Reports are as wide as the terminal, or unlimited with --wide; output to a file or a pipe is never
narrowed, unless COLUMNS gives its width.
"""

import functools
import inspect
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from hexsim.errors import option_of
from hexsim.records import dataclass, fields, is_dataclass
from hexsim.reports.text import page

Command = Callable[..., None]
OTHER_OPTIONS = "Options"

_SPELLINGS = {
    "activation_bits": "--act-bitwidth",
    "activation_calibration": "--act-quantizer-calibration",
    "activation_schema": "--act-quantizer-schema",
    "adjusted_weights": "--use-adjusted-weights-quantizer",
    "axis_weights": "--axis-quant",
    "bias_bits": "--bias-bitwidth",
    "cpu_fallback": "--no-cpu-fallback",
    "enhanced": "--use-enhanced-quantizer",
    "float_bias_bits": "--float-bias-bitwidth",
    "float_bits": "--float-bitwidth",
    "float_model": "--float",
    "float_weights": "--no-weight-quantization",
    "hta": "--no-hta",
    "input_dims": "--input-dim",
    "input_values": "--input-value",
    "inputs": "--input-list",
    "calibration": "--calibration-list",
    "output_names": "--out-name",
    "percentile": "--percentile-calibration-value",
    "power_collapse": "--no-power-collapse",
    "row_weights": "--use-per-row-quantization",
    "symmetric_weights": "--use-symmetric-quantize-weights",
    "vtcm_mb": "--vtcm",
    "weight_bits": "--weights-bitwidth",
    "weight_calibration": "--param-quantizer-calibration",
    "weight_schema": "--param-quantizer-schema",
}
"""Parameters whose options have other names."""
_SHORT: Mapping[str, tuple[str, ...]] = {"output": ("-o",)}
"""Short names of options, by their parameters."""


@dataclass(frozen=True)
class Heading:
    """The mark of an option that gives the heading above it in the help."""

    text: str


@dataclass(frozen=True)
class Reads:
    """The mark of an option that is `typed` as one type, and read as another by `read`.

    `names` completes what is begun in a shell.
    """

    typed: Any
    read: Callable[[Any], Any]
    names: Callable[[str], list[str]] | None = None


@dataclass(frozen=True)
class Keywords:
    """Options by the names of a public function's parameters."""

    def keywords(self) -> dict[str, Any]:
        """Return the arguments of the public function."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def option(name: str, value: object = None) -> str:
    """Return a parameter as the option of a command with its value: `--bias-bitwidth 32`."""
    return option_of(_SPELLINGS.get(name, f"--{name.replace('_', '-')}"), value)


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Return a keyword-only parameter, as all parameters of wrapped commands are.

    A text in its annotation is the help of an option, which has the name that messages give the
    parameter. What a shell offers for its value comes from its marks.
    """
    if marks := getattr(annotation, "__metadata__", ()):
        marks = [typer.Option(help=mark) if isinstance(mark, str) else mark for mark in marks]
        annotation = Annotated[annotation.__origin__, *marks]
    completions = [names for mark in marks if (names := getattr(mark, "names", None)) is not None]
    for info in marks:
        if isinstance(info, ParameterInfo):
            info.readable = False  # the program's own message says what cannot be read
            info.autocompletion = next(iter(completions), None)
            if isinstance(info, OptionInfo) and info.default is ...:
                info.param_decls = (option(name), *_SHORT.get(name, ()))
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def wraps(
    command: Command,
    replaced: Mapping[str, Iterable[inspect.Parameter]] | None = None,
    added: Iterable[inspect.Parameter] = (),
) -> Callable[[Command], Command]:
    """Return a decorator like `functools.wraps` that also changes the parameters of `command`.

    Each parameter named in `replaced` gives way to the parameters listed there (an empty list
    removes it), and those in `added` come last. Annotations are resolved.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        unchanged = keyword(name, hints[name], parameter.default)
        parameters += (replaced or {}).get(name, [unchanged])
    signature = inspect.Signature([*parameters, *added])

    def decorate(wrapper: Command) -> Command:
        functools.update_wrapper(wrapper, command)
        vars(wrapper)["__signature__"] = signature
        wrapper.__annotations__ = {
            name: parameter.annotation for name, parameter in signature.parameters.items()
        }
        return wrapper

    return decorate


_ANNOTATIONS = "__annotations__"


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with every parameter that is a dataclass replaced by its fields.

    A field is annotated like an option; its heading in the help is the HEADING of its class. The
    defaults are those of the fields, or of the instance that is the default of the parameter.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options: dict[str, list[inspect.Parameter]] = {}
    readers: dict[str, Callable[[Any], Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            declared = _fields(groups[name], parameter.default)
        else:
            declared = [keyword(name, hints[name], parameter.default)]
        options[name] = [_typed(option, readers) for option in declared]

    @wraps(command, replaced=options)
    def with_groups(**given: Any) -> None:
        given |= {name: read(given[name]) for name, read in readers.items()}
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    return with_groups


def _fields(group: Any, instance: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    defaults = group() if instance is inspect.Parameter.empty else instance
    return [
        keyword(
            field.name,
            Annotated[hints[field.name], Heading(_heading(group, field.name))],
            getattr(defaults, field.name),
        )
        for field in fields(group)
    ]


def _typed(
    option: inspect.Parameter, readers: dict[str, Callable[[Any], Any]]
) -> inspect.Parameter:
    """Return an option with the type that is typed, and note the reader of its value."""
    marks = getattr(option.annotation, "__metadata__", ())
    for mark in marks:
        if isinstance(mark, Reads):
            readers[option.name] = mark.read
            return option.replace(annotation=Annotated[mark.typed, *marks])
    return option


def _heading(group: type[Any], field: str) -> str:
    """Return the heading of the class that declares a field, the group or one above it."""
    annotated = (known for known in group.__mro__ if field in vars(known).get(_ANNOTATIONS, ()))
    owner = next(annotated, group)
    return getattr(owner, "HEADING", OTHER_OPTIONS)


_WIDE = Annotated[bool, "Show all columns, however wide the terminal is."]


def window() -> AbstractContextManager[None]:
    """Let reports be as wide as the terminal, if they are printed on one."""
    return page(shutil.get_terminal_size((0, 0)).columns or None)


def paged(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with the option --wide."""

    @wraps(command, added=[keyword("wide", _WIDE, default=False)])
    def with_page(*, wide: bool = False, **given: Any) -> None:
        if not wide:
            command(**given)
            return
        with page(None):
            command(**given)

    return with_page
