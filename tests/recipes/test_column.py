"""docs/recipes/column.md works as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recipes.page import follow


@pytest.mark.slow
def test_the_recipe_works(tmp_path: Path) -> None:
    follow("column", tmp_path)
