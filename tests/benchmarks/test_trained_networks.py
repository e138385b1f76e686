"""The table of the built-in trained networks is what they answer."""

import pytest

from benchmarks.trained_networks import PAGE, page


@pytest.mark.slow
def test_the_table_is_up_to_date() -> None:
    expected = page()
    assert PAGE.read_text(encoding="utf-8") == expected, (
        "python -m benchmarks.trained_networks --write"
    )
