"""Sources yield the same sets again and again and know which items are padding."""

from pathlib import Path

import numpy as np
import pytest

from hexsim.inputs.source import listed, padding, seeded
from tests.small_networks import Sketch


@pytest.fixture
def five(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for index in range(5):
        np.full(2 * 2 * 3, index, "<f4").tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(5)))
    return tmp_path / "list.txt"


def test_a_list_for_a_batch(five: Path) -> None:
    net = Sketch((2, 2, 2, 3))
    source = listed(five, net.network(net.pool("in", kernel=1)))
    assert (source.items, source.batch, source.sets) == (5, 2, 3)
    assert source.description.endswith("(applying padding: the last batch holds 1 of 2 items)")
    for _ in range(2):
        first = [feed["in"][:, 0, 0, 0].tolist() for feed in source.feeds()]
        assert first == [[0, 1], [2, 3], [4, 4]]


def test_files_may_be_elsewhere_than_a_list_says(five: Path) -> None:
    (five.parent / "there").mkdir()
    for raw in five.parent.glob("*.raw"):
        raw.rename(five.parent / "there" / raw.name)
    net = Sketch((1, 2, 2, 3))
    network = net.network(net.pool("in", kernel=1))
    source = listed(five, network, place=lambda path: Path("there") / path)
    assert source.files[1] == (str(Path("there/1.raw")),)
    assert [feed["in"].max() for feed in source.feeds()] == [0, 1, 2, 3, 4]


def test_seeded_batches_are_full() -> None:
    net = Sketch((3, 2, 2, 3))
    source = seeded([{}, {}], net.network(net.pool("in", kernel=1)))
    assert (source.items, source.sets, source.seeded) == (6, 2, True)


def test_full_batches_say_nothing() -> None:
    assert padding(6, 3) == padding(5, 1) == ""
