"""The parameters of a wrapped command, from which typer makes its options."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_type_hints

Command = Callable[..., None]


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """Return a keyword-only parameter, as all parameters of wrapped commands are."""
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
