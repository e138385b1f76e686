"""Label files: one class per line, or a name and its class.

Places of labels among scores.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy.classes import (
    Hits,
    margin,
    place,
    read_labels,
    scores_of_items,
    unpadded,
    winner,
)
from hexsim.errors import HexsimError
from tests.accuracy import culprits
from tests.small_networks import Sketch


def test_labels_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("3\n\n 0 \n9\n")
    assert read_labels(path, 3, culprits.network()) == ((3,), (0,), (9,))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1\n2\n", "has 2 labels for 3 inputs"),
        ("", "has 0 labels for 3 inputs"),
        ("1\ntwo\n3\n", "line 2: 'two' is no class"),
        ("file,class\na,1\nb,2\n", "0 to 9; a line is CLASS or NAME CLASS, without a heading"),
        ("1\n2\n10\n", "line 3: '10' is no class; output 'scores' has the classes 0 to 9"),
        ("-1\n2\n3\n", "line 1: '-1' is no class"),
        ("1.5\n2\n3\n", "line 1: '1.5' is no class"),
        ("1\n2|\n3\n", "line 2: '' is no class"),
        ("1\n2|12\n3\n", "line 2: '12' is no class; output 'scores' has the classes 0 to 9"),
        ("1 2\n3\n4\n", "line 1: '1' is no class; give one integer per line, or several right"),
    ],
)
def test_mistakes_in_labels(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "labels.txt"
    path.write_text(content)
    with pytest.raises(HexsimError, match="label file") as error:
        read_labels(path, 3, culprits.network())
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "cannot read label file"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "is no text"),
    ],
)
def test_no_label_file(tmp_path: Path, make: Callable[[Path], None], sentence: str) -> None:
    make(tmp_path / "labels.txt")
    with pytest.raises(HexsimError, match=sentence):
        read_labels(tmp_path / "labels.txt", 1, culprits.network())


def test_labels_need_one_input_at_a_time(tmp_path: Path) -> None:
    batched = Sketch((4, 8, 8, 3))
    (tmp_path / "labels.txt").write_text("1\n")
    with pytest.raises(HexsimError, match="resize it to a batch of 1"):
        read_labels(tmp_path / "labels.txt", 1, batched.network(batched.pool("in")))


def test_a_batch_has_a_label_for_each_item(tmp_path: Path) -> None:
    batched = Sketch((4, 8, 8, 3))
    (tmp_path / "labels.txt").write_text("1\n0\n2\n2\n1\n")
    network = batched.network(batched.dense("in", 3))
    assert read_labels(tmp_path / "labels.txt", 5, network, batch=4) == tuple(
        (n,) for n in (1, 0, 2, 2, 1)
    )
    (tmp_path / "labels.txt").write_text("3\n")
    with pytest.raises(HexsimError, match="has the classes 0 to 2"):
        read_labels(tmp_path / "labels.txt", 1, network, batch=4)


NAMES = ("a.png", "my cat.png", "z,1.jpg")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("my cat.png 3\nz,1.jpg,9\n\na.png\t0\n", ((0,), (3,), (9,))),
        ("a.png, 1\nmy cat.png , 2\nz,1.jpg 3", ((1,), (2,), (3,))),
        ("4\n5\n6", ((4,), (5,), (6,))),
        ("z,1.jpg,9|8|9\na.png 0\nmy cat.png\t3|4", ((0,), (3, 4), (9, 8))),
        ("4|5\n5\n6|1|2", ((4, 5), (5,), (6, 1, 2))),
    ],
)
def test_pictures_may_be_named(
    tmp_path: Path, content: str, expected: tuple[tuple[int, ...], ...]
) -> None:
    (tmp_path / "labels.txt").write_text(content)
    assert read_labels(tmp_path / "labels.txt", 3, culprits.network(), NAMES) == expected


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a.png 1\nb.png 2\n", "line 2: unknown picture 'b.png'; did you mean a.png"),
        ("a.png 1\na.png 2\n", "line 2: 'a.png' has a class already"),
        ("a.png 1\nmy cat.png 2\n", "has no class for 'z,1.jpg'"),
        ("a.png 1\nmy cat.png\n", "line 2: 'cat.png' is no class"),
        ("a.png 10\n", "line 1: '10' is no class"),
        ("a.png 1\n5\n", "line 2: '5' has no name"),
    ],
)
def test_mistakes_in_named_labels(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "labels.txt").write_text(content)
    with pytest.raises(HexsimError) as error:
        read_labels(tmp_path / "labels.txt", 3, culprits.network(), NAMES)
    assert sentence in str(error.value)


def test_padding_is_cut_off_what_has_a_batch() -> None:
    values = {"batched": np.arange(8).reshape(4, 2), "shared": np.arange(3), "one": np.array(5.0)}
    cut = unpadded(values, 4, 3)
    assert cut["batched"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert cut["shared"].tolist() == [0, 1, 2]
    assert cut["one"] == 5
    assert unpadded(values, 4, 4) is values


def test_scores_of_items() -> None:
    scores = np.arange(4.0).reshape(2, 2)
    assert [s.tolist() for s in scores_of_items(scores, 2)] == [[0, 1], [2, 3]]
    assert [s.tolist() for s in scores_of_items(scores, 1)] == [[[0, 1], [2, 3]]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_place_is_that_in_a_stable_sort(scores: list[int], data: st.DataObject) -> None:
    label = data.draw(st.integers(0, len(scores) - 1))
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    assert place(np.array([scores], np.float32), (label,)) == order.index(label)


def test_hits_count_each_side() -> None:
    scores = np.arange(10, dtype=np.float32)[None]
    hits = Hits()
    hits.add(scores, scores[:, ::-1], (9,))
    hits.add(scores, scores, (5,))
    hits.add(scores, scores, None)
    assert (hits.inputs, hits.same_top1) == (3, 2)
    assert (hits.float_top1, hits.float_top5) == (1, 2)
    assert (hits.runtime_top1, hits.runtime_top5) == (0, 1)


def test_any_of_several_right_classes_counts() -> None:
    """Of ten scores 0 to 9, class 8 is second and class 3 seventh: top-1 not, top-5 is."""
    scores = np.arange(10, dtype=np.float32)
    assert place(scores, (3, 8)) == 1
    hits = Hits()
    hits.add(scores, scores, (3, 8))
    hits.add(scores, scores, (3, 9))
    assert (hits.float_top1, hits.float_top5) == (1, 2)


def test_the_margin_is_negative_where_another_class_wins() -> None:
    scores = np.array([[0.1, 0.7, 0.2]], np.float32)
    assert margin(scores, 1) == pytest.approx(0.5)
    assert margin(scores, 0) == pytest.approx(-0.6)


def test_the_first_of_equal_scores_wins_and_of_none_nobody() -> None:
    assert winner(np.array([[1, 3, 3]])) == 1
    assert winner(np.array(2.0)) == 0
    assert winner(np.zeros((1, 0))) == -1
