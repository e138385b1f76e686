"""Installed packages bring layers by entry points, which are imported when they are needed.

Files that bring layers: what they give, and what is said of those that give none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.udl import UserLayer, find, known, use_layers
from tests.own_layers import FILE

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


LAYER = """\
from dataclasses import dataclass
from hexsim.udl import UserLayer

@dataclass
class Box:
    size: int

def shapes(node):
    return [node.inputs[0]]

def floats(node, x):
    return x

one = also = UserLayer(domain="d", operator="One", shapes=shapes, floats=floats)
two = UserLayer(domain="d", operator="Two", shapes=shapes, floats=floats)

def chosen():
    return [two]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "with blank.py"
    path.write_text(LAYER)
    return path


def test_all_layers_of_a_file_are_known_each_once(file: Path) -> None:
    assert [use_layer.name for use_layer in use_layers(file)] == ["d.One", "d.Two"]
    user_layer = find("d.One")
    assert user_layer is not None
    assert user_layer.source == "with blank.py"
    assert find("One") is None
    assert [path.name for path in file.parent.iterdir()] == ["with blank.py"], "nothing is written"


@pytest.mark.parametrize("name", ["two", "chosen"])
def test_a_name_behind_the_file_chooses(file: Path, name: str) -> None:
    assert [use_layer.name for use_layer in use_layers(f"{file} {name}")] == ["d.Two"]
    assert find("d.One") is None


def test_a_file_may_be_given_again_and_the_last_of_a_name_counts(file: Path) -> None:
    first, _ = use_layers(file)
    again, _ = use_layers(file)
    assert find("d.One") is again is not first


def test_a_layer_itself_may_be_given() -> None:
    plus, _ = use_layers(FILE)
    mine = UserLayer(operator="Relu", shapes=plus.shapes, floats=plus.floats)
    use_layers(mine)
    assert find("Relu") is mine


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "defines no layer; give a UserLayer a name in it"),
        ("\ndef f(:\n", "line 2 cannot be run: SyntaxError"),
        ("\n\n1 / 0\n", "line 3 cannot be run: ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)\n", "line 2 cannot be run: SystemExit: 3"),
        (LAYER + "two = UserLayer(operator='One', domain='d', shapes=shapes, floats=floats)\n",
         "defines d.One twice; leave one of them out"),
        (LAYER + "UserLayer(operator='Z', shapes=shapes, floats=3)\n",
         "line 19 cannot be run: Z: floats is 3, which is no function"),
        (LAYER + "UserLayer(operator='Z', shapes=shapes, floats=floats, costs={'npu': 1})\n",
         "line 19 cannot be run: unknown processor of Z, 'npu'; did you mean"),
        (LAYER + "UserLayer(operator='Z', shapes=shapes, floats=floats, dtypes=('real',))\n",
         "line 19 cannot be run: unknown element type of Z, 'real'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(HexsimError) as error:
        use_layers(path)
    assert "mine.py'" in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "has no 'missing', which is to give its layers"),
        ("Box", "cannot be run: TypeError"),
        ("shapes", "cannot be run: TypeError"),
        ("__name__", "gives no UserLayer, nor several in a list"),
    ],
)
def test_a_name_that_gives_no_layers(file: Path, name: str, message: str) -> None:
    with pytest.raises(HexsimError, match=message):
        use_layers(f"{file} {name}")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot read user-defined layers .*: No such file"):
        use_layers(tmp_path / "none.py")
    with pytest.raises(HexsimError, match="it is a folder; give a Python file"):
        use_layers(tmp_path)
