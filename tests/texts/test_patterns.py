"""Every regular expression of hexsim takes linear time, whatever it is applied to.

A matcher that backtracks takes more than linear time where a text can be read in two ways that lead
from one loop of a pattern to another, or back to itself, and the rest of the pattern may fail.
This is decided here for the automaton of each pattern in the source, without running it. A search
starts at each place, which is a loop before the pattern. A possessive repeat that has ended is not
read again, so that it does not count as the first of two loops. What looks ahead, or at the end of
a text, is taken for a character that may be missing. References to groups are not decided.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, TypeGuard

import pytest

ROOT = Path(__file__).parents[2] / "hexsim"
_parser: Any = re._parser  # type: ignore[attr-defined]
_ALPHABET = (*map(chr, range(256)), "\u2003", "\u00e9", "\u4e00")
"""Characters that stand for all others: every byte, another space, another letter."""
_OTHER = "anything else"
"""Stands for what follows, but is not read: the end of a text, or what is looked ahead for."""


_Move = tuple[frozenset[str], int]
"""Characters, and the next state for them."""


@dataclass
class Automaton:
    """States with their next states without a character, and with one of some."""

    silent: list[list[int]] = field(default_factory=list)
    moves: list[list[_Move]] = field(default_factory=list)
    repeats: list[frozenset[int]] = field(default_factory=list)
    """The states of each possessive repeat."""

    def state(self) -> int:
        self.silent.append([])
        self.moves.append([])
        return len(self.silent) - 1

    def add(self, items: Any, start: int, flags: int) -> int:
        """Add a parsed pattern behind `start`; return the state behind it."""
        for operation, argument in items:
            start = self._one(str(operation), argument, start, flags)
        return start

    def _one(self, operation: str, argument: Any, start: int, flags: int) -> int:
        if operation == "ASSERT" and argument[0] < 0:
            return self.add(argument[1], start, flags)
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return self._move(start, frozenset({_OTHER}))
        if operation == "BRANCH":
            end = self.state()
            for branch in argument[1]:
                self.silent[self.add(branch, self._after(start), flags)].append(end)
            return end
        if operation == "SUBPATTERN":
            _, more, less, items = argument
            return self.add(items, start, (flags | more) & ~less)
        if operation == "ATOMIC_GROUP":
            return self.add(argument, start, flags)
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(operation, argument, start, flags)
        assert operation in ("LITERAL", "NOT_LITERAL", "IN", "ANY"), operation
        single = re.compile(_class(operation, argument), flags & ~re.VERBOSE)
        return self._move(start, frozenset(filter(single.fullmatch, _ALPHABET)))

    def _move(self, start: int, characters: frozenset[str]) -> int:
        end = self.state()
        self.moves[start].append((characters, end))
        return end

    def _repeat(self, operation: str, argument: Any, start: int, flags: int) -> int:
        least, most, items = argument
        if most is not _parser.MAXREPEAT:  # bounded, so a constant: twice stands for more
            for number in range(min(most, 2)):
                end = self.add(items, self._after(start), flags)
                if number >= least:
                    self.silent[start].append(end)
                start = end
            return start
        if least:
            start = self.add(items, start, flags)
        loop = self._after(start)
        first = len(self.silent)
        self.silent[self.add(items, loop, flags)].append(loop)
        if operation == "POSSESSIVE_REPEAT":
            self.repeats.append(frozenset((loop, *range(first, len(self.silent)))))
        return self._after(loop)

    def _after(self, start: int) -> int:
        new = self.state()
        self.silent[start].append(new)
        return new

    def steps(self, start: int, passed: frozenset[int] = frozenset()) -> list[_Move]:
        """The moves from a state, once for each way to them; ValueError for a way without end."""
        if start in passed:
            raise ValueError("a loop that reads nothing")
        ways = [self.steps(state, passed | {start}) for state in self.silent[start]]
        return [*self.moves[start], *(move for way in ways for move in way)]

    def ends(self, start: int, end: int) -> bool:
        """Tell whether the pattern may end in a state without reading more."""
        return start == end or any(self.ends(state, end) for state in self.silent[start])

    def given_up(self, first: int, second: int) -> bool:
        """Tell whether the second state is behind a possessive repeat that has the first."""
        return any(first in repeat and second not in repeat for repeat in self.repeats)


def _class(operation: str, argument: Any) -> str:
    """The pattern of one character."""
    if operation == "ANY":
        return "."
    if operation == "LITERAL":
        return re.escape(chr(argument))
    if operation == "NOT_LITERAL":
        return f"[^{re.escape(chr(argument))}]"
    parts = []
    for kind, value in argument:
        match str(kind):
            case "NEGATE":
                parts.append("^")
            case "LITERAL":
                parts.append(re.escape(chr(value)))
            case "RANGE":
                parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
            case "CATEGORY":
                words = {"DIGIT": "\\d", "SPACE": "\\s", "WORD": "\\w"}
                name = str(value).removeprefix("CATEGORY_")
                word = words[name.removeprefix("NOT_")]
                parts.append(word.upper() if name.startswith("NOT_") else word)
    return f"[{''.join(parts)}]"


def is_linear(pattern: str | bytes, flags: int, method: str) -> bool:
    """Tell whether `method` of re takes linear time for any text; ValueError if undecided."""
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    parsed = _parser.parse(text, flags | (re.ASCII if isinstance(pattern, bytes) else 0))
    made = Automaton()
    start = made.state()
    is_first = str(parsed[:1]).startswith("[(AT, AT_BEGINNING")
    if method not in ("match", "fullmatch") and not is_first:
        made.moves[start].append((frozenset(_ALPHABET), start))
    end = made.add(parsed[is_first:], made._after(start), parsed.state.flags)
    if method == "fullmatch":
        end = made._move(end, frozenset({_OTHER}))
    return not _Reading(made, end).is_ambiguous()


class _Reading:
    """How an automaton reads texts, character by character."""

    def __init__(self, made: Automaton, end: int) -> None:
        self._made = made
        self._steps = [made.steps(state) for state in range(len(made.silent))]
        sets = {characters for moves in self._steps for characters, _ in moves}
        alike = {
            tuple(character in characters for characters in sets): character
            for character in _ALPHABET
        }
        self._alphabet = [*alike.values(), _OTHER]
        self._ends = [made.ends(state, end) for state in range(len(made.silent))]

    def is_ambiguous(self) -> bool:
        """Tell whether a text leads p to p in two ways, or p to p, p to q and q to q."""
        loops = [state for state in range(len(self._steps)) if self._is_loop(state)]
        return any(
            self._reaches((p, p, False), (p, p, True), self._doubled)
            or any(
                p != q
                and not self._made.given_up(p, q)
                and self._reaches((p, p, q), (p, q, q), self._pumped)
                for q in loops
            )
            for p in loops
        )

    def _is_loop(self, state: int) -> bool:
        return self._reaches((state,), (state,), lambda at: ((to,) for _, to in self._steps[at[0]]))

    @staticmethod
    def _reaches(begin: Any, goal: Any, following: Callable[[Any], Iterable[Any]]) -> bool:
        seen, pending = {begin}, [begin]
        while pending:
            for new in following(pending.pop()):
                if new[: len(goal)] == goal:
                    return True
                if new not in seen:
                    seen.add(new)
                    pending.append(new)
        return False

    def _next(self, state: int, character: str) -> list[int]:
        return [target for characters, target in self._steps[state] if character in characters]

    def _doubled(self, now: tuple[int, int, bool]) -> Iterator[tuple[int, int, bool]]:
        a, b, differs = now
        for character in self._alphabet:
            for number, at in enumerate(self._next(a, character)):
                for other, to in enumerate(self._next(b, character)):
                    yield at, to, differs or at != to or (a == b and number != other)

    def _pumped(self, now: Any) -> Iterator[Any]:
        """The next states of p to p, p to q, q to q.

        Where a loop may end the match at each turn, what it has read is not read again.
        """
        a, b, c = now
        for character in self._alphabet:
            for at, to, on in product(
                self._next(a, character), self._next(b, character), self._next(c, character)
            ):
                if not self._ends[on]:
                    yield at, to, on


_METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_ONE_BY_ONE: Mapping[str, str] = {
    "onnx_io/float_engine.py": "()",  # of texts of 10 000 characters at most
    "reports/trace.py": "_ORDER",
    "reports/pages/figures/timeline.py": "[*_PLAIN]",
    "studies/throughput.py": "[*_RESOURCES]",
    "studies/probes/__init__.py": "[kind.pattern for kind in KINDS.values()]",
}
"""Files that try several patterns, and which."""


def _used(path: Path) -> Iterator[tuple[str | bytes, int, str]]:
    """The patterns of a file with their flags, and the methods that are called of them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [*path.relative_to(ROOT.parent).with_suffix("").parts]
    module = vars(import_module(".".join(names).removesuffix(".__init__")))
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        of, method = ast.unparse(call.func.value), call.func.attr
        if of != "re" and method in _METHODS and isinstance(module.get(of), re.Pattern):
            yield module[of].pattern, module[of].flags & ~re.UNICODE, method
        elif of == "re" and method in _METHODS:
            last = ast.unparse(call.args[-1])
            flags = eval(last, module) if last.startswith("re.") else 0
            try:
                yield eval(ast.unparse(call.args[0]), dict(module)), flags, method
            except (NameError, AttributeError):
                listed = _ONE_BY_ONE[str(path.relative_to(ROOT))]
                for pattern in eval(listed, dict(module)):
                    yield pattern, flags, method


@pytest.mark.parametrize(
    ("pattern", "method", "linear"),
    [
        *(("a*", "search", True), ("a*b", "match", True), ("a*b", "search", False)),
        *(("a*+b", "search", False), (r"\s*\s*,", "match", False), (r"\s*+\s*,", "match", True)),
        *((r"\w+\d+x", "match", False), (r"(a+)+b", "match", False), ("x.*y", "search", False)),
        *(("a*", "fullmatch", True), ("a*$", "search", False), (r"(a|ab|b)*c", "match", False)),
        *(("(?<=')[^']+(?=')", "sub", True), ("[^']+(?=')", "sub", False)),
        *((r"a*(?=b)|a", "sub", False), (r"a(a*c)?", "sub", False), ("^x.*y", "search", True)),
        *((r'"(?:[^"\\]|\\.)*+"?', "finditer", True), (r'"(?:[^"\\]|\\.)*"', "sub", False)),
    ],
)
def test_loops_that_read_the_same_text_are_found(pattern: str, method: str, linear: bool) -> None:
    assert is_linear(pattern, 0, method) == linear


FILES = [
    path for path in sorted(ROOT.rglob("*.py")) if re.search(r"^import re$", path.read_text(), re.M)
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_patterns_of_the_source_are_linear(path: Path) -> None:
    patterns = [*_used(path)]
    assert patterns or str(path.relative_to(ROOT)) in _ONE_BY_ONE
    assert not [item for item in patterns if not is_linear(*item)]


def test_no_pattern_is_left_out() -> None:
    """Each is compiled for a name of its file, and a method of that name is called there."""
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^[ \t]+import re\b|from re import|import re as", text, re.M), path
        compiled = len(re.findall(r"\bre\.compile\(", text))
        named = re.findall(r"^(\w+) = re\.compile\(", text, re.M)
        assert len(named) == compiled, path
        used = {ast.unparse(node.value) for node in ast.walk(ast.parse(text)) if _is_use(node)}
        assert {*named} <= used, path


def _is_use(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr in _METHODS
