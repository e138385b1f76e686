"""Protobuf's text format, in which Caffe describes networks: fields, messages within messages.

Read without a schema: a word stays a word until somebody asks for a number, a flag or a choice.

Left out: extensions and `Any` (names in brackets), which such files do not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hexsim.errors import InvalidDataError
from hexsim.texts.text import shortened
from hexsim.texts.trees import MOST_LEVELS

MOST_TOKENS = 1 << 21
"""Words and marks of a text; networks of a thousand layers have a tenth of them."""

_TOKEN = re.compile(
    r"""(?P<space>[\s]+|\#[^\n]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[+-]?[\w.][\w.+-]*)
    |(?P<mark>[{}<>\[\]:;,])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_CLOSING = {"{": "}", "<": ">"}


@dataclass(frozen=True)
class Scalar:
    """A word or, if `quoted`, a text, and the line it is on."""

    text: str
    quoted: bool
    line: int


@dataclass(frozen=True)
class Message:
    """Fields by name, each with all its values in order, and the line where the message begins."""

    line: int
    fields: dict[str, list[Scalar | Message]] = field(default_factory=dict)


def parse_proto_text(text: str, where: str) -> Message:
    """Return the message that `text` is; InvalidDataError, with `where` and the line."""
    return _Parser(text, where).message()


class _Parser:
    """One pass over the tokens; messages within messages wait on a stack."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        self._tokens = self._split(text)
        self._next = next(self._tokens)
        self._taken = 0

    def message(self) -> Message:
        top = Message(1)
        open_messages, closing = [top], [""]
        while True:
            kind, token, line = self._take()
            if token in (";", ",") and kind == "mark":
                continue
            if token == closing[-1] and kind in ("mark", "end"):
                open_messages.pop()
                closing.pop()
                if not open_messages:
                    return top
                continue
            if kind == "end":
                first = open_messages[-1].line
                raise self._error(line, f"the text ends within the message of line {first}")
            if kind != "word":
                raise self._error(line, f"{_shown(token)} stands where a field begins")
            values = self._values(token, open_messages[-1])
            if self._next[1] == ":" and self._next[0] == "mark":
                self._take()
                if self._next[0] != "mark" or self._next[1] == "[":
                    values += self._scalars()
                    continue
            kind, mark, line = self._take()
            if kind != "mark" or mark not in _CLOSING:
                raise self._error(line, f"field '{shortened(token)}' has no value")
            if len(open_messages) > MOST_LEVELS:
                raise self._error(line, f"messages are nested more than {MOST_LEVELS} levels deep")
            inner = Message(line)
            values.append(inner)
            open_messages.append(inner)
            closing.append(_CLOSING[mark])

    def _values(self, name: str, within: Message) -> list[Scalar | Message]:
        return within.fields.setdefault(name, [])

    def _count(self, line: int) -> None:
        self._taken += 1
        if self._taken > MOST_TOKENS:
            raise self._error(line, f"there are more than {MOST_TOKENS} words")

    def _scalars(self) -> list[Scalar | Message]:
        """A value, or several in brackets."""
        if self._next[1] != "[" or self._next[0] != "mark":
            return [self._scalar()]
        self._take()
        found: list[Scalar | Message] = []
        while not (self._next[0] == "mark" and self._next[1] == "]"):
            if found:
                kind, token, line = self._take()
                if (kind, token) != ("mark", ","):
                    raise self._error(line, f"{_shown(token)} stands within a list")
            found.append(self._scalar())
        self._take()
        return found

    def _scalar(self) -> Scalar:
        kind, token, line = self._take()
        if kind == "word":
            return Scalar(token, False, line)
        if kind != "string":
            raise self._error(line, f"{_shown(token)} stands where a value is expected")
        text = _unquoted(token)
        while self._next[0] == "string":  # texts one behind the other are one
            text += _unquoted(self._take()[1])
        return Scalar(text, True, line)

    def _take(self) -> tuple[str, str, int]:
        taken = self._next
        if taken[0] != "end":
            self._count(taken[2])
            self._next = next(self._tokens)
        return taken

    def _split(self, text: str) -> Iterator[tuple[str, str, int]]:
        at, line = 0, 1
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._error(line, f"{_shown(text[at : at + 20].split()[0])} is no field")
            if found.lastgroup != "space":
                yield str(found.lastgroup), found.group(), line
            line += text.count("\n", at, found.end())
            at = found.end()
        yield "end", "", line

    def _error(self, line: int, what: str) -> InvalidDataError:
        return InvalidDataError(f"{self._where}, line {line}: {what}")


def _unquoted(token: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), token[1:-1])


def _shown(token: str) -> str:
    shown = token if token.isprintable() else ascii(token)[1:-1]
    return f"'{shortened(shown)}'" if shown else "the end"
