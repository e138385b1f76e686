"""The options of SNPE tools: their names, their values and their effects here.

The effect of an option is one of these: it is replaced by options of our command; it is dropped,
because our command does the same by default; it is dropped with a remark, because it has no meaning
here and changes no result; or it is refused with a reason, because the results would differ from
what the user requested.

Tables of options are TOML files in `tables/`. A file has groups of options, each option with the
fields of `Option` and one effect:

- `ours`, the words of our command, or `anyway = true`;
- `ignored` or `refused`, the reason as a clause, or the name of one in the table `reasons`;
- `effects`, one of these for each value.

An option may be `like` the first of another group, which is named as `file.group`; it has its own
fields instead. `tools.toml` has the other fields of `Tool` by the name of the tool, its options as
a list of such groups. `instead.toml` says what to do instead of using tools of which only the name
is here.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from hexsim.cli._say import LogFormat
from hexsim.records import dataclass, field, replace
from hexsim.texts.trees import parse_toml

Level = Literal["off", "basic", "moderate", "detailed"]
"""How many rows a log has."""

Kind = Literal["ours", "anyway", "ignored", "refused"]


@dataclass(frozen=True)
class Effect:
    """What an option does here: `ours` gives `words` to our command, and its values as one more.

    Without words, the value is an argument of our command. An option that is `ignored` or `refused`
    is so because of the clause `why`.
    """

    kind: Kind
    words: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Option:
    """An option with all its names, the usual one first.

    `values` are the names of its values in help. The last value is one of `choices`, or of the keys
    of `effect` if the effect depends on it. If `alone` is set, the value may be missing, and
    `alone` is taken. If `number` is set, the value is a number that is not negative. `variable` is
    an environment variable that sets the option. `otherwise` are words of our command that are
    given if the option is not, where its default differs from that of our command.
    Beside an option of `gives_way_to` with one of the
    values there, or with any if there are none, this one is dropped with a remark. So it is
    without one of the options of `only_beside` with the value there, if there are any.
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
    otherwise: tuple[str, ...] = ()
    gives_way_to: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The usual name."""
        return self.names[0]

    @property
    def known(self) -> tuple[str, ...]:
        """The allowed texts of the last value; empty if all are allowed."""
        return tuple(self.effect) if isinstance(self.effect, Mapping) else self.choices

    @property
    def form(self) -> str:
        """The form in which the option is typed."""
        last = ",".join(self.known) or (self.values[-1] if self.values else "")
        placeholders = [*self.values[:-1], f"{{{last}}}" if self.known else last]
        words = " ".join(placeholders).strip()
        return f"{', '.join(self.names)} {f'[{words}]' if self.alone else words}".strip()

    def becomes(self, values: tuple[str, ...]) -> Effect:
        """Return the effect of the option with these values."""
        return self.effect[values[-1]] if isinstance(self.effect, Mapping) else self.effect


@dataclass(frozen=True)
class Tool:
    """An SNPE tool: its purpose, our command that does the work, and its options.

    `release` is the release of SNPE whose guide the table follows. If `refusal` is set, the tool
    does nothing: this sentence says what to do instead. `always` are words that our command gets.
    `log` is how lines of its log show their levels.
    """

    name: str
    summary: str
    command: Callable[..., None]
    options: tuple[Option, ...]
    release: str = "1.59"
    notes: tuple[str, ...] = field(default=())
    refusal: str = ""
    always: tuple[str, ...] = ()
    log: LogFormat = "[{level}] {text}"


_KINDS: tuple[Kind, ...] = get_args(Kind)


@functools.cache
def option_group(path: str) -> tuple[Option, ...]:
    """Return the options of a group, whose path is `file.group`."""
    file, _, group = path.partition(".")
    tree = read_table(file)
    return tuple(_option(row, tree.get("reasons", {})) for row in tree[group])


def tools(
    commands: Mapping[str, Callable[..., None]], log: LogFormat = "[{level}] {text}"
) -> dict[str, Tool]:
    """Return the tools that are done by our commands, by name; `log` is that of each."""
    described = read_table("tools")
    named = commands.items()
    return {name: _tool(name, run, {**described[name], "log": log}) for name, run in named}


def _tool(name: str, command: Callable[..., None], row: Mapping[str, Any]) -> Tool:
    options = tuple(option for path in row["options"] for option in option_group(path))
    return Tool(**{**_fixed(row), "name": name, "command": command, "options": options})


@functools.cache
def read_table(name: str) -> Mapping[str, Any]:
    """Return a file as it is."""
    path = Path(__file__).with_name("tables") / f"{name}.toml"
    return parse_toml(path.read_text("utf-8"), str(path), as_written=True)


def _option(row: dict[str, Any], reasons: Mapping[str, str]) -> Option:
    fields = {key: _fixed(value) for key, value in row.items() if key not in _KINDS}
    several = fields.pop("effects", None)
    if several is not None:
        fields["effect"] = {value: _effect(each, reasons) for value, each in several.items()}
    elif not row.keys().isdisjoint(_KINDS):
        fields["effect"] = _effect(row, reasons)
    if like := fields.pop("like", None):
        return replace(option_group(like)[0], **fields)
    return Option(**{"values": (), **fields})


def _fixed(value: Any) -> Any:
    """Return lists as tuples, in tables too."""
    if isinstance(value, dict):
        return {key: _fixed(each) for key, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _effect(row: Mapping[str, Any], reasons: Mapping[str, str]) -> Effect:
    kind = next(known for known in _KINDS if known in row)
    if kind == "anyway":
        return Effect(kind)
    if kind == "ours":
        return Effect(kind, tuple(row[kind]))
    return Effect(kind, why=reasons.get(row[kind], row[kind]))
