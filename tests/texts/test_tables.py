"""Tables are read by their declared fields; their sentences are in tests/datasheets as well."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, field

from hexsim.errors import HexsimError
from hexsim.texts.tables import Checked, Table, fields, read, reread, tree_of


def not_odd(number: int) -> str | None:
    return "an even number" if number % 2 else None


class Wheel(Table, forbid_unknown_fields=True):
    spokes: Annotated[int, Meta(ge=2, le=40), Checked(not_odd)]
    name: str = ""


class Cart(Table, forbid_unknown_fields=True):
    wheels: Annotated[tuple[Wheel, ...], Meta(min_length=1)]
    front: Wheel | None = field(default=None, name="front-wheel")
    size: tuple[float, float] = (1.0, 2.0)
    load: float | Literal["none"] = "none"
    prices: Mapping[Literal["new", "old"], float] = field(default_factory=dict)
    _made: int = 0

    def fault(self) -> str | None:
        return "no front wheel without a load" if self.front and self.load == "none" else None


WHEELS: dict[str, Any] = {"wheels": [{"spokes": 8}]}


def cart(**changes: Any) -> Cart:
    return read(Cart, WHEELS | changes, "a file")


def test_values_have_the_types_of_their_fields() -> None:
    made = cart(**{"front-wheel": {"spokes": 4.0}}, size=[1, 2.5], load=3, prices={"new": 7})
    assert made.front == Wheel(spokes=4)
    assert made.front is not None
    assert type(made.front.spokes) is int
    assert (made.size, made.load, made.prices) == ((1.0, 2.5), 3.0, {"new": 7.0})
    assert type(made.load) is float
    assert cart().load == "none"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"wheels": []}, "key 'wheels' is []; expected at least 1 item"),
        ({"wheels": [{"spokes": 3}]}, "key 'wheels.0.spokes' is 3; expected an even number"),
        ({"wheels": [{"spokes": 42}]}, "key 'wheels.0.spokes' is 42; expected less than or equal"),
        ({"wheels": [{"spokes": 4.5}]}, "key 'wheels.0.spokes' is 4.5; expected a whole number"),
        ({"wheels": [{"spokes": True}]}, "key 'wheels.0.spokes' is True; expected a whole number"),
        ({"wheels": [{}]}, "key 'wheels.0.spokes' is missing; expected a whole number"),
        ({"wheels": [{"spoke": 4}]}, "key 'wheels.0.spoke' is not known; did you mean spokes?"),
        ({"wheels": 3}, "key 'wheels' is 3; expected a list of tables"),
        ({"size": [1]}, "key 'size' is [1]; expected 2 items"),
        ({"size": [1, "a"]}, "key 'size.1' is 'a'; expected a number"),
        ({"load": "some"}, "key 'load' is 'some'; expected a number"),
        ({"load": float("nan")}, "key 'load' is nan; expected a number"),
        ({"prices": {"used": 1}}, "key 'prices.used' is 'used'; expected 'new' or 'old'"),
        ({"_made": 3}, "key '_made' is not known; "),
        ({"front-wheel": {"spokes": 2}}, "a file: expected no front wheel without a load"),
    ],
)
def test_the_first_mistake_is_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HexsimError) as error:
        cart(**changes)
    assert sentence in str(error.value)
    assert str(error.value).startswith("a file")


def test_all_of_a_tree_may_be_wrong() -> None:
    with pytest.raises(HexsimError, match=r"a file: all of it is \[\]; expected a table"):
        read(Cart, [], "a file")


def test_a_changed_tree_is_read_where_it_changed() -> None:
    before: dict[str, Any] = WHEELS | {"front-wheel": {"spokes": 4, "name": "f"}, "load": 3}
    made = read(Cart, before, "a file")
    changed = before | {"front-wheel": before["front-wheel"] | {"spokes": 6}}
    assert reread(made, before, changed, "a file") == read(Cart, changed, "a file")
    assert reread(made, before, changed, "a file").wheels is made.wheels
    wrong = before | {"front-wheel": before["front-wheel"] | {"spokes": 1}}
    with pytest.raises(HexsimError, match=r"key 'front-wheel\.spokes' is 1; expected greater than"):
        reread(made, before, wrong, "a file")


def test_a_table_is_written_by_its_keys_without_what_is_none() -> None:
    assert tree_of(Wheel(spokes=4)) == {"spokes": 4, "name": ""}
    assert "front-wheel" not in tree_of(cart())
    assert [*fields(Cart)] == ["wheels", "front-wheel", "size", "load", "prices"]
