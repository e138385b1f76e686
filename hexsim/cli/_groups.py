"""Groups of options: a command takes a dataclass, and its fields are options of the command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

from hexsim.cli._signature import keyword, wraps


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with every parameter that is a dataclass replaced by its fields.

    A field is annotated like an option. The defaults are those of the fields, or of the instance
    that is the default of the parameter.
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
        keyword(field.name, hints[field.name], getattr(defaults, field.name))
        for field in fields(group)
    ]
