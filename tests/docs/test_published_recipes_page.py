"""The page of published command lines says what the tools say today."""

from benchmarks.published_recipes import PAGE, page


def test_the_page_is_that_of_the_code() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m benchmarks.published_recipes --write"
