"""The example of the page on snpe_bench.py is what it does today."""

import pytest

from benchmarks.snpe_bench_page import PAGE, page


@pytest.mark.slow
def test_the_example_is_that_of_the_code() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page(), "python -m benchmarks.snpe_bench_page --write"
