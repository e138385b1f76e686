import numpy as np

from hexsim.accuracy.items import scores_of_items, unpadded


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
