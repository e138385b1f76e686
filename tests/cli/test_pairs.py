"""Two words after a paired option become one."""

from hexsim.cli._pairs import join_pairs


def test_pairs_are_joined_and_the_rest_is_left_alone() -> None:
    words = ["bench", "--input-dim", "data", "1,3", "--input-dim", "x 2,2", "--chip", "sd835"]
    assert join_pairs(words) == [
        *("bench", "--input-dim", "data 1,3", "--input-dim", "x 2,2", "--chip", "sd835"),
    ]
    assert join_pairs(["--input-dim", "alone"]) == ["--input-dim", "alone"]
