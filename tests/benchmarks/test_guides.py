"""Every statement of the guides is shown by its command, and the page lists all of them."""

import pytest

from benchmarks.guides import PAGE, Statement, failures, page, statements

VERDICTS = {"holds", "in part", "retired", "differs", "does not apply"}


def test_the_page_lists_all_statements() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.guides --write"
    for each in (each for chapter in statements().values() for each in chapter):
        assert each.verdict in VERDICTS
        assert each.why or each.verdict == "holds"
        assert each.run or each.why, "what shows it?"
        assert each.shows or each.lacks or not each.run, "what would fail?"


@pytest.mark.slow
def test_every_command_shows_its_statement() -> None:
    assert failures(statements()) == []


def test_what_is_not_printed_is_found() -> None:
    run = "hexsim prepare photos --model digits.onnx --std 255"
    other = Statement("no", run, shows=("41 pictures",), lacks=("40 pictures",))
    raising = Statement("no", 'python -c "1 / 0"', shows=("1",))
    first, second = failures({"": [other, raising]})
    assert first.endswith("code 0, without ['41 pictures'], with ['40 pictures']")
    assert "code 1" in second
