"""The page on the SNPE tools says what their tables say today."""

from benchmarks.snpe_tools import PAGE, page


def test_the_page_is_that_of_the_code() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m benchmarks.snpe_tools --write"
