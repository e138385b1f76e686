"""The map is that of the house: its rooms, its floors, and its nouns."""

from __future__ import annotations

import ast
import configparser
import re
from collections import Counter

import pytest

import hexsim
from benchmarks.pages import DOCS, ROOT
from tests.docs.test_paths import resolves

MAP = (DOCS / "architecture.md").read_text(encoding="utf-8")
MOST_FLOORS = 18
MOST_MODULES = 12
"""Directly in hexsim/: a reader sees them at one glance."""

_ROOM = re.compile(r"^\| (\d+) \| `([\w.]+)` \| (.+) \|$", re.MULTILINE)
_NOUN = re.compile(r"\*\*([\w ]+)\*\*\s+\(`([\w.]+)`\)")
_BOLD = re.compile(r"\*\*[^*.]+\*\*")


def floors() -> list[set[str]]:
    """The rooms of each floor, as the import contract has them."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    lines = contracts["importlinter:contract:house"]["layers"].split("\n")
    return [{room.strip() for room in line.split("|")} for line in lines if line.strip()]


def listed() -> list[tuple[int, str]]:
    """Floor and name of each room on the map."""
    return [(int(floor), room) for floor, room, _ in _ROOM.findall(MAP)]


def test_the_rooms_are_those_of_the_import_contract() -> None:
    expected = [(at, room) for at, floor in enumerate(floors(), 1) for room in floor]
    assert sorted(listed()) == sorted(expected)
    assert [floor for floor, _ in listed()] == sorted(floor for floor, _ in listed())


def test_the_rooms_are_the_folders_and_modules_of_hexsim() -> None:
    source = ROOT / "hexsim"
    folders = {folder.name for folder in source.iterdir() if any(folder.glob("*.py"))}
    modules = {file.stem for file in source.glob("*.py") if not file.stem.startswith("__")}
    assert {room for _, room in listed()} == {f"hexsim.{name}" for name in folders | modules}


def test_each_room_has_one_sentence() -> None:
    for _, room, sentence in _ROOM.findall(MAP):
        assert re.fullmatch(r"[^|]+[^.]\.", sentence), room
        assert not re.search(r"\. [A-Z]", sentence), room


def test_the_house_stays_small_enough_to_be_seen() -> None:
    assert len(floors()) <= MOST_FLOORS
    assert len(list((ROOT / "hexsim").glob("*.py"))) <= MOST_MODULES


@pytest.mark.parametrize(("noun", "dotted"), _NOUN.findall(MAP), ids=lambda text: text)
def test_a_noun_exists(noun: str, dotted: str) -> None:
    assert resolves(dotted), f"{noun} is said to be {dotted}"


def test_no_other_class_has_the_name_of_a_noun() -> None:
    nouns = {dotted.rpartition(".")[2] for _, dotted in _NOUN.findall(MAP)}
    files = sorted((ROOT / "hexsim").rglob("*.py"))
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    classes = (n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef))
    counts = Counter(name.lstrip("_") for name in classes)
    assert [noun for noun in sorted(nouns) if counts[noun] > 1] == []


def test_the_api_holds_the_public_functions() -> None:
    public = {name for name in hexsim.__all__ if name.islower() and name != "__version__"}
    functions = {name for name in public if callable(getattr(hexsim, name))}
    assert len(functions) > 20
    (sentence,) = (text for _, room, text in _ROOM.findall(MAP) if room == "hexsim.api")
    passed_on = set(re.findall(r"`(\w+)`", sentence))
    others = {name for name in functions if "hexsim.api" not in getattr(hexsim, name).__module__}
    assert others == passed_on


def test_folders_outside_the_package_are_named() -> None:
    outside = MAP.partition("Outside the package are ")[2]
    tracked = {"tests", "benchmarks", "examples", "docs", ".ci"}
    assert set(re.findall(r"`([\w.]+)/`", outside)) == tracked
    shown = {path.name for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert shown <= tracked | {"hexsim", "models"}


def test_every_bold_noun_says_where_it_is() -> None:
    assert len(_NOUN.findall(MAP)) == len(_BOLD.findall(MAP)) >= 30
