"""

Places of labels among scores.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.accuracy.classification import Hits, margin, place, scores_of_items, unpadded, winner


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
