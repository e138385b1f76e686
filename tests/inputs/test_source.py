"""Sources yield the same sets again and again and know which items are padding.

Inputs are dealt in turn to those that calibrate and those that judge, batch by batch.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.inputs.source import (
    InMemory,
    InputRoles,
    InputSource,
    items_of,
    listed,
    padding,
    part_of,
    roles,
    seeded,
)
from tests.accuracy import culprits
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


NETWORK = culprits.network()


def source(items: int, batch: int = 1) -> InputSource:
    """Items 0, 1, 2, ..., whose values are their numbers; the last batch is padded."""
    sets = -(-items // batch)
    feeds = [{"in": np.arange(batch, dtype=np.float32) + batch * number} for number in range(sets)]
    names = tuple(f"{item}.png" for item in range(items))
    files = tuple((f"set {number}",) for number in range(sets))
    return InputSource(InMemory(feeds), items, batch, "pictures", names, files)


@pytest.mark.parametrize(
    ("items", "batch", "calibrating", "judging"),
    [
        (2, 1, [0], [1]),
        (5, 1, [0, 2, 4], [1, 3]),
        (7, 2, [0, 1, 4, 5], [2, 3, 6]),
        (6, 4, [0, 1, 2, 3], [4, 5]),
    ],
)
def test_items_labels_and_names_go_with_their_batch(
    items: int, batch: int, calibrating: list[int], judging: list[int]
) -> None:
    whole = source(items, batch)
    labels = tuple((item,) for item in range(items))
    roles = InputRoles(whole, labels).quantizing(NETWORK)
    assert roles.calibrating is not None
    for part, expected in ((roles.calibrating, calibrating), (roles.judging, judging)):
        values = np.concatenate([feed["in"] for feed in part.feeds()])
        assert values[: part.items].tolist() == expected
        assert part.names == tuple(f"{item}.png" for item in expected)
        assert part.sets == len(part.files)
    assert roles.labels == tuple((item,) for item in judging)
    assert items_of(whole, "judge", range(items)) == tuple(judging)
    assert next(feed["in"][0] for feed in roles.judging.absolute().feeds()) == judging[0]


def test_others_calibrate_if_there_are_any() -> None:
    whole, others = source(5), replace(source(3), description="others")
    roles = InputRoles(whole).quantizing(NETWORK, others)
    assert (roles.judging, roles.calibrating) == (whole, others)
    assert roles.calibration == "others: 3 inputs calibrate, 5 others judge"


def test_seeded_inputs_are_calibrated_on_other_seeded_inputs() -> None:
    roles = InputRoles(replace(source(4), seeded=True)).quantizing(NETWORK)
    assert roles.calibration == "8 seeded inputs"
    assert roles.judging.items == 4


def test_one_inference_does_both_and_this_is_said() -> None:
    whole = source(3, batch=4)
    split = InputRoles(whole).quantizing(NETWORK)
    assert split.judging is split.calibrating is whole
    assert roles(whole, whole).startswith("3 inputs calibrate and judge, which flatters")
    with pytest.raises(HexsimError, match="cannot be split"):
        part_of(whole, "judge")
