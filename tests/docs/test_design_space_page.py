"""The tables of docs/results/design-space.md are those of today."""

from __future__ import annotations

import pytest

from benchmarks.design_space import PAGE, page


@pytest.mark.slow
def test_the_tables_are_up_to_date() -> None:
    renew = "python -m benchmarks.design_space --write"
    assert PAGE.read_text(encoding="utf-8") == page(), renew
