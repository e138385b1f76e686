"""The page on layers says what the layers say today."""

from benchmarks.layer_matrix import PAGE, page


def test_the_page_is_that_of_the_code() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m benchmarks.layer_matrix --write"
