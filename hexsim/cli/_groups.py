"""Groups of options: a command takes a dataclass, its users see the fields as options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return `command` with every parameter that is a dataclass replaced by its fields.

    A field is annotated as an option would be. The defaults are those of the fields, or of the
    instance that is the parameter's own default.
    """
    hints = get_type_hints(command, include_extras=True)
    declared = inspect.signature(command).parameters.values()
    groups = {one.name: hints[one.name] for one in declared if is_dataclass(hints[one.name])}

    def parameters() -> Iterator[inspect.Parameter]:
        for one in declared:
            if one.name in groups:
                yield from _options(groups[one.name], one.default)
            else:
                yield one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY)

    @functools.wraps(command)
    def with_groups(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    signature = inspect.Signature(list(parameters()))
    with_groups.__signature__ = signature  # type: ignore[attr-defined]
    with_groups.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    return with_groups


def _options(group: Any, instance: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    given = group() if instance is inspect.Parameter.empty else instance
    for field in fields(group):
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(given, field.name),
            annotation=hints[field.name],
        )
