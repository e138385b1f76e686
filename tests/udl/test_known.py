"""Installed packages bring layers by entry points, which are imported when they are needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.udl import find, known, use_layers

MODULE = """\
from hexsim.udl import UserLayer
swirl = UserLayer(domain="pkg", operator="Swirl", shapes=lambda node: node.inputs,
                  floats=lambda node, x: x)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A function that installs a package with a module and these entry points."""

    def clear() -> None:
        known._installed.cache_clear()
        known._loaded.cache_clear()
        sys.modules.pop("brought_layers", None)

    def put(points: str) -> None:
        info = tmp_path / "brought-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[hexsim.layers]\n{points}\n")
        (tmp_path / "brought_layers.py").write_text(MODULE)
        monkeypatch.syspath_prepend(tmp_path)
        clear()

    clear()
    yield put
    monkeypatch.undo()
    clear()


def test_an_entry_point_is_found_by_its_operator(install: Callable[[str], None]) -> None:
    install("pkg.Swirl = brought_layers:swirl")
    assert find("pkg.Other") is None
    assert "brought_layers" not in sys.modules, "nothing is imported before it is needed"
    user_layer = find("pkg.Swirl")
    assert user_layer is not None
    assert (user_layer.name, user_layer.source) == ("pkg.Swirl", "brought_layers")
    assert find("pkg.Swirl") is user_layer


def test_what_the_program_gives_comes_first(install: Callable[[str], None]) -> None:
    install("pkg.Swirl = brought_layers:swirl")
    brought = find("pkg.Swirl")
    assert brought is not None
    (mine,) = use_layers(brought)
    assert find("pkg.Swirl") is mine


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("pkg.Swirl = brought_layers:nothing", "cannot be loaded: AttributeError"),
        ("pkg.Swirl = no_such_module:swirl", "cannot be loaded: ModuleNotFoundError"),
        ("pkg.Other = brought_layers:swirl", "is no UserLayer of that operator"),
    ],
)
def test_an_entry_point_that_brings_nothing(
    install: Callable[[str], None], point: str, message: str
) -> None:
    install(point)
    with pytest.raises(HexsimError, match=message):
        find(point.split()[0])
