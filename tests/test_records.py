"""Dataclasses of hexsim.records do what those of the standard library do."""

import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hexsim import records


def _classes(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """Make the same classes by either decorator."""

    @dataclass(frozen=True)
    class Point:
        """A point."""

        x: int
        y: float = 2.0

    @dataclass(frozen=True, kw_only=True)
    class Named(Point):
        """A point with more kinds of fields than are usual."""

        name: str
        tags: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)
        seen: dict[str, int] = dataclasses.field(default_factory=dict, init=False, compare=False)

        def __post_init__(self) -> None:
            if not self.name:
                raise ValueError("a name is needed")

    @dataclass(frozen=True, eq=False)
    class Own:
        """Identity, and a text of its own."""

        x: int

        def __repr__(self) -> str:
            return f"own {self.x}"

    @dataclass(frozen=True)
    class Nothing:
        pass

    @dataclass(frozen=True)
    class Rest(Point):
        """A subclass that adds nothing."""

    made = (Point, Named, Own, Nothing, Rest)
    return {cls.__name__: cls for cls in made}


OURS, STANDARD = _classes(records.dataclass), _classes(dataclasses.dataclass)

EXPRESSIONS = [
    "repr(Point(1))",
    "repr(Named(1, name='a', tags=['b'], note='c'))",
    "repr([Own(1), Nothing(), Rest(1, 3)])",
    "Point(1) == Point(1, 2.0), Point(1) == Point(2), Point(1) == Rest(1), Point(1) == 1",
    "Named(1, name='a', note='c') == Named(1, name='a', note='d')",
    "hash(Point(1)) == hash(Point(1, 2.0)), len({Point(1), Point(1), Point(2)})",
    "Own(1) == Own(1), Nothing() == Nothing(), hash(Nothing()) == hash(Nothing())",
    "hash(Named(1, name='a'))",
    "Point()",
    "Point(1, 2, 3)",
    "Named(1, 2.0, 'a')",
    "Named(1, name='')",
    "Named(1, name='a').tags is Named(1, name='a').tags",
    "vars(Named(1, name='a')), Named.note",
    "replace(Named(1, name='a', tags=['b']), x=5)",
    "replace(Named(1, name='a'), seen={})",
    "[(f.name, f.kw_only, f.default) for f in fields(Point)], Point.__match_args__",
    "asdict(Named(1, name='a'))",
    "setattr(Point(1), 'x', 2)",
    "setattr(Point(1), 'z', 2)",
    "setattr(Rest(1), 'x', 2)",
    "delattr(Point(1), 'x')",
    "setattr(type('Free', (Point,), {})(1), 'z', 2)",
    "setattr(type('Free', (Point,), {})(1), 'y', 2)",
    "Point.__doc__, Point.__init__.__qualname__ if Point(1) else ''",
]


def _outcome(expression: str, classes: dict[str, Any]) -> str:
    known = {name: getattr(dataclasses, name) for name in ("asdict", "fields", "replace")}
    try:
        return repr(eval(expression, known | classes))
    except (TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_records_answer_as_the_standard_library(expression: str) -> None:
    ours, expected = (_outcome(expression, classes) for classes in (OURS, STANDARD))
    assert ours == expected


@records.dataclass(frozen=True)
class Sent:
    """A record that goes to another process."""

    x: int


def test_a_record_compares_in_a_process_that_made_none() -> None:
    code = (
        "import pickle, sys; a, b = pickle.loads(sys.stdin.buffer.read()); "
        "assert a == b and hash(a) == hash(b) and 'x=1' in repr(a)"
    )
    sent = pickle.dumps((Sent(1), Sent(1)))
    subprocess.run([sys.executable, "-c", code], input=sent, check=True)


def test_a_constructor_is_compiled_when_it_is_needed() -> None:
    cls = _classes(records.dataclass)["Point"]
    before = cls.__init__
    assert cls(1).x == cls(1).x
    assert cls.__init__ is not before


@pytest.mark.parametrize("name", OURS)
def test_the_signature_is_there_before_and_after_the_first_object(name: str) -> None:
    """Editors and help show the parameters; a default that is made has no value to show."""

    def shown(cls: Any) -> list[tuple[Any, ...]]:
        parameters = inspect.signature(cls).parameters.values()
        return [(p.name, p.kind, p.annotation, p.default is p.empty) for p in parameters]

    fresh = _classes(records.dataclass)[name]
    assert shown(fresh) == shown(OURS[name]) == shown(STANDARD[name])


def test_a_constructor_of_ones_own_keeps_its_signature() -> None:
    class Half(OURS["Point"]):  # type: ignore[misc]
        def __init__(self, whole: int) -> None:
            super().__init__(whole // 2)

    assert list(inspect.signature(Half).parameters) == ["whole"]
    assert Half(4).x == 2
