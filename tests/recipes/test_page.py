"""What follows a recipe notices a page that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pages import DOCS
from tests.recipes.page import Block, assert_prints, blocks, run, steps, write


def test_blocks_name_files_or_commands() -> None:
    text = "```python file=a/b.py\nx = 1\n```\n\n```\nno\n```\n\n```console\n$ python a/b.py\n```\n"
    assert blocks(text) == [
        Block("python", "a/b.py", "x = 1\n"),
        Block("console", "", "$ python a/b.py\n"),
    ]


def test_a_hunk_changes_what_stands_once(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    write(Block("python", "a.py", "a = 1\nb = 2\nc = 3\n"), file)
    write(Block("diff", "a.py", " a = 1\n-b = 2\n+b = 3\n@@\n c = 3\n+d = 4\n@@\n+e = 5\n"), file)
    assert file.read_text() == "a = 1\nb = 3\nc = 3\nd = 4\ne = 5\n"
    with pytest.raises(AssertionError, match=r"not once in a\.py"):
        write(Block("diff", "a.py", "-b = 2\n"), file)
    with pytest.raises(AssertionError, match="exists"):
        write(Block("python", "a.py", ""), file)


def test_commands_are_split_from_what_they_print() -> None:
    assert [*steps("$ one \\\n  two\nout\n$ three\n")] == [("one    two", ["out"]), ("three", [])]


def test_other_output_is_noticed() -> None:
    assert_prints(["a b", "..."], "a  b\nc\n", "x")
    assert_prints(["...", "c"], "a\nb\nc\n", "x")
    assert_prints(["a ... c"], "a 1 2 c\n", "x")
    assert_prints([], "anything\n", "x")
    for expected in (["a"], ["b"], ["...", "a"]):
        with pytest.raises(AssertionError, match="is not"):
            assert_prints(expected, "a\nb\n", "x")


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no_such"):
        run("python -m no_such", tmp_path)


def test_every_recipe_is_followed() -> None:
    pages = {page.stem.replace("-", "_") for page in (DOCS / "recipes").glob("*.md")}
    tests = {test.stem.removeprefix("test_") for test in Path(__file__).parent.glob("test_*.py")}
    assert pages == tests - {"page"}
