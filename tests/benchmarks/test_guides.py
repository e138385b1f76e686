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


@pytest.mark.slow
def test_every_command_shows_its_statement() -> None:
    assert failures(statements()) == []


def test_what_is_not_printed_is_found() -> None:
    other = Statement("no", "hexsim prepare photos --model digits.onnx --std 255", ("41 pictures",))
    (line,) = failures({"": [other]})
    assert line.endswith("code 0, without ['41 pictures']")
