"""Places of labels, and label files that are wrong."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy.classification import Hits, place, read_labels
from hexsim.errors import HexsimError
from tests.accuracy import culprits
from tests.small_networks import Sketch


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_place_is_that_in_a_stable_sort(scores: list[int], data: st.DataObject) -> None:
    label = data.draw(st.integers(0, len(scores) - 1))
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    assert place(np.array([scores], np.float32), label) == order.index(label)


def test_hits_count_each_side() -> None:
    scores = np.arange(10, dtype=np.float32)[None]
    hits = Hits()
    hits.add(scores, scores[:, ::-1], 9)
    hits.add(scores, scores, 5)
    hits.add(scores, scores, None)
    assert (hits.inputs, hits.same_top1) == (3, 2)
    assert (hits.float_top1, hits.float_top5) == (1, 2)
    assert (hits.runtime_top1, hits.runtime_top5) == (0, 1)


def test_labels_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("3\n\n 0 \n9\n")
    assert read_labels(path, 3, culprits.network()) == (3, 0, 9)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1\n2\n", "has 2 labels for 3 inputs"),
        ("", "has 0 labels for 3 inputs"),
        ("1\ntwo\n3\n", "line 2: 'two' is no class"),
        ("1\n2\n10\n", "line 3: '10' is no class; output 'scores' has the classes 0 to 9"),
        ("-1\n2\n3\n", "line 1: '-1' is no class"),
        ("1.5\n2\n3\n", "line 1: '1.5' is no class"),
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
