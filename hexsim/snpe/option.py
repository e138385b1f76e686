"""What a table says of an option of an SNPE tool: its names, what follows it, what it becomes.

An option becomes words of our command; or nothing, because it asks for what happens anyway; or
nothing with a remark, because what it asks for has no meaning here and changes no result; or it is
refused with the reason, because the results would not be those that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Ours:
    """Words of our command, and the option's values as one more word behind them.

    Without any words the value is an argument of our command.
    """

    words: tuple[str, ...] = ()

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)


@dataclass(frozen=True)
class Anyway:
    """What it asks for happens without it."""


@dataclass(frozen=True)
class Ignored:
    """What it asks for has no meaning here; `why` is a clause, told once."""

    why: str


@dataclass(frozen=True)
class RefusedOption:
    """What it asks for cannot be had; `why` is a clause that says so, and what to do."""

    why: str


Effect = Ours | Anyway | Ignored | RefusedOption


@dataclass(frozen=True)
class Option:
    """One option by all its names, the usual one first.

    `values` are the words that follow, by what help calls them. The last one is one of `choices`,
    or of the keys of `effect` where the effect depends on it. With `alone` the value may be
    missing, and `alone` is meant. With `number` the value is one, not negative. `variable` is an
    environment variable that stands in for it.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    help: str
    effect: Effect | Mapping[str, Effect]
    choices: tuple[str, ...] = ()
    alone: str = ""
    is_required: bool = False
    number: Literal["real", "whole"] | None = None
    variable: str = ""

    @property
    def name(self) -> str:
        """The usual name."""
        return self.names[0]

    @property
    def known(self) -> tuple[str, ...]:
        """The values that the last word may have; empty for any."""
        return tuple(self.effect) if isinstance(self.effect, Mapping) else self.choices

    @property
    def form(self) -> str:
        """How it is typed."""
        last = ",".join(self.known) or (self.values[-1] if self.values else "")
        shown = [*self.values[:-1], f"{{{last}}}" if self.known else last]
        words = " ".join(shown).strip()
        return f"{', '.join(self.names)} {f'[{words}]' if self.alone else words}".strip()

    def becomes(self, values: tuple[str, ...]) -> Effect:
        """What it becomes with these values."""
        return self.effect[values[-1]] if isinstance(self.effect, Mapping) else self.effect


@dataclass(frozen=True)
class Tool:
    """An SNPE tool: what it is for, our command behind it, and its options.

    `release` is the release of SNPE whose guide the table follows.
    """

    name: str
    summary: str
    command: Callable[..., None]
    options: tuple[Option, ...]
    release: str = "1.59"
    notes: tuple[str, ...] = field(default=())


CHIP = Option(
    ("--chip",), ("CHIP",), "The chip that is simulated, by name or TOML file.", Ours("--chip"),
    variable="HEXSIM_CHIP",
)  # fmt: skip
STACK = Option(
    ("--stack",), ("STACK",), "Its software; default: the chip's own.", Ours("--stack"),
    variable="HEXSIM_STACK",
)  # fmt: skip
NO_UDO = RefusedOption(
    "a package of operators is code for a device; say in a Python file what they do (--udl)"
)
"""Why packages of user-defined operators are refused."""
UDL = Option(
    ("--udl",), ("FILE", "NAME"),
    "Layers of one's own: a Python file, which is run, and what in it gives them; repeatable.",
    Ours("--udl"), variable="HEXSIM_UDL",
)  # fmt: skip
"""SNPE's converters have it; other tools need it here, where no application brings the layers."""
