"""Groups of options: a command takes a dataclass, and its fields are options of the command."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, get_type_hints

from hexsim.cli._parameters import OTHER_OPTIONS, Heading
from hexsim.cli._signature import keyword, wraps

_ANNOTATIONS = "__annotations__"


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with every parameter that is a dataclass replaced by its fields.

    A field is annotated like an option; its heading in the help is the HEADING of its class. The
    defaults are those of the fields, or of the instance that is the default of the parameter.
    """
    hints = get_type_hints(command, include_extras=True)
    declared = inspect.signature(command).parameters
    groups = {name: hints[name] for name in declared if is_dataclass(hints[name])}
    options = {name: _options(group, declared[name].default) for name, group in groups.items()}

    @wraps(command, replaced=options)
    def with_groups(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    return with_groups


def _options(group: Any, instance: Any) -> list[inspect.Parameter]:
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


def _heading(group: type[Any], field: str) -> str:
    """Return the heading of the class that declares a field, the group or one above it."""
    annotated = (known for known in group.__mro__ if field in vars(known).get(_ANNOTATIONS, ()))
    owner = next(annotated, group)
    return getattr(owner, "HEADING", OTHER_OPTIONS)
