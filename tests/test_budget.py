"""The budget: what it refuses, what it says, and how it is raised."""

import pytest

from benchmarks.pages import CONCEPTS
from hexsim import budget
from hexsim.errors import HexsimError

LIMIT = budget.Limit(1000, "beans")


def test_what_fits_is_let_through_and_what_does_not_is_named() -> None:
    budget.require(LIMIT, 1000, "the soup")
    with pytest.raises(HexsimError) as refused:
        budget.require(LIMIT, 1001, "the soup")
    assert str(refused.value) == (
        "the soup asks for 1001, and the budget is 1000 beans; make it smaller, or multiply all "
        "limits by the environment variable HEXSIM_BUDGET"
    )


def test_the_environment_multiplies_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(budget.VARIABLE, "2.5")
    budget.require(LIMIT, 2500, "the soup")
    with pytest.raises(HexsimError, match="the budget is 2500 beans"):
        budget.require(LIMIT, 2501, "the soup")


@pytest.mark.parametrize("text", ["", "much", "0", "-1", "nan", "inf"])
def test_a_budget_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(budget.VARIABLE, text)
    with pytest.raises(HexsimError, match="set it to a positive number"):
        budget.allowed(LIMIT)


def test_zeros_do_not_hide_long_axes() -> None:
    budget.require_shape((0, 3), "x")
    with pytest.raises(HexsimError, match=r"x asks for 1e\+12"):
        budget.require_shape((0, 10**6, 10**6), "x")


def test_the_page_has_every_limit() -> None:
    page = (CONCEPTS / "importing.md").read_text(encoding="utf-8")
    limits = [var for var in vars(budget).values() if isinstance(var, budget.Limit)]
    assert len(limits) == 19
    for limit in limits:
        assert f"| {limit.unit} | {limit.amount} |" in page
