"""A decision in words: the reasons name what made the difference."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from hexsim.reports.decision.data import choice_facts, decision_csv, decision_facts
from hexsim.reports.decision.table import (
    changes,
    decision_table,
    recommendation,
    ruled_out,
)
from hexsim.reports.fitting import page
from hexsim.studies.decision import (
    Decision,
    DecisionCandidate,
    Limits,
    RuledOut,
    TriedChange,
)
from hexsim.studies.decision.candidates import DrawnTotals
from hexsim.studies.decision.ranking import ranked
from tests.studies.decision.decided import candidate


def decision(
    *candidates: DecisionCandidate, out: tuple[RuledOut, ...] = (), sure: float | None = None
) -> Decision:
    """What is decided on ten inputs of a classifier without labels.

    In a share `sure` of 100 draws a candidate is quicker than the next one.
    """
    best = ranked(candidates, "latency")
    if sure is not None:
        draws = [tuple(rank if k < 100 * sure else -rank for k in range(100)) for rank in (1, 2)]
        drawn = [
            DrawnTotals(*(candidate.timed.total_us,) * 2, us)
            for us, candidate in zip(draws, best, strict=True)
        ]
        best = tuple(replace(c, drawn=d) for c, d in zip(best, drawn, strict=True))
    shares = () if sure is None else (sure,)
    limits = Limits(max_ms=5.0)
    return Decision("n", 10, True, False, None, limits, "latency", best, out, shares, ("seeded",))


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (candidate(1500.0, runtime="aip"), "which takes 1.50 times as long"),
        (candidate(runtime="aip", loss=20.0), "which loses 20.0 points more"),
        (candidate(runtime="aip", sqnr_db=28.0), "which has 28.0 dB"),
        (candidate(1001.0, runtime="aip"), "which takes 1.00 times as long"),
        (candidate(runtime="aip", mode=3), "which is no better and less plain"),
    ],
)
def test_the_reason_is_the_first_that_tells_two_apart(
    other: DecisionCandidate, sentence: str
) -> None:
    assert sentence in recommendation(decision(candidate(), other))


@pytest.mark.parametrize(("sure", "is_open"), [(0.7, True), (0.95, False)])
def test_an_order_that_draws_turn_round_is_open(sure: float, is_open: bool) -> None:
    said = recommendation(decision(candidate(), candidate(1500.0, runtime="aip"), sure=sure))
    assert f"in {sure:.0%} of draws" in said
    assert ("so their order is open" in said) == is_open


def test_an_order_that_most_draws_turn_round_leans_the_other_way() -> None:
    other = candidate(1500.0, runtime="aip")
    for sure, leans in ((0.24, True), (0.5, False)):
        said = recommendation(decision(candidate(), other, sure=sure))
        assert ("so their order is open and more likely the other way round." in said) == leans


def test_middles_of_intervals_are_ranked_and_other_hardware_is_the_rival() -> None:
    """A time of 3.51 ms that may be 13.4 loses to one of 4.2 that is at most 5.4."""
    dsp = candidate(4200.0, runtime="dsp")
    dsp = replace(dsp, drawn=DrawnTotals(3700.0, 5400.0, (3700.0, 5400.0)), doubt=1.064)
    aip = replace(candidate(4300.0, runtime="aip"), doubt=1.064)
    fixed = candidate(3510.0, runtime="fxp_cpu")
    fixed = replace(fixed, drawn=DrawnTotals(2600.0, 13400.0, (2600.0, 13400.0)), doubt=1.68)
    fixed = replace(fixed, timed=replace(fixed.timed, energy_mj=5 * dsp.timed.energy_mj))
    choice = decision(fixed, aip, dsp)
    said = recommendation(choice)
    assert choice.ranked[0] == replace(dsp, in_front=choice.ranked[0].in_front)
    assert "Next elsewhere is default on sd855 fxp_cpu, which would take 3.51 ms" in said
    assert "and takes 5.00 times the energy; the first is the quicker one in 50% of draws" in said
    assert "with the constants as stated, but is known less well (2.60 .. 13.4)" in said


def test_noise_comes_last() -> None:
    noisy, good = candidate(100.0, sqnr_db=3.7), candidate(5000.0, runtime="aip", sqnr_db=12.0)
    choice = decision(noisy, good)
    assert [candidate.sqnr_db for candidate in choice.ranked] == [12.0, 3.7]
    assert "1 choice with outputs under 10 dB" in recommendation(choice)
    assert "seeded inputs say little" in recommendation(replace(choice, seeded=True))
    assert "The outputs of no choice have 10 dB" in recommendation(decision(noisy))


def test_energies_have_three_digits_and_no_powers() -> None:
    much = candidate()
    spent = replace(much.timed, energy_mj=2961.4, energy_low_mj=152.25, energy_high_mj=5900.2)
    decided = decision(replace(much, timed=spent))
    assert "2961 mJ (152 .. 5900)" in recommendation(decided)
    assert " 2961 " in decision_table(decided)


def test_one_choice_and_one_input_are_singular() -> None:
    decided = replace(decision(candidate()), items=1)
    assert "1 choice is within the limits." in recommendation(decided)
    assert "Counted on 1 input: one is 100 points." in recommendation(decided)


def test_one_input_is_so_many_points() -> None:
    assert "Counted on 10 inputs: one is 10 points." in recommendation(decision(candidate()))


def test_the_table_has_the_best_of_each_place_and_the_front() -> None:
    decided = decision(
        candidate(mode=1), candidate(mode=2), candidate(3000.0, mode=3, sqnr_db=50.0)
    )
    shown = [line.split()[:2] for line in decision_table(decided).splitlines()[2:4]]
    assert shown == [["1", "default"], ["2", "enhanced"]], "equal ones are both in front"
    beaten = decision(candidate(mode=1), candidate(mode=2, sqnr_db=20.0))
    assert "enhanced" not in decision_table(beaten)
    assert "(and 1 more; all=True shows them)" in decision_table(beaten)
    assert "enhanced" in decision_table(beaten, every=True)


def test_intervals_go_first_on_a_narrow_page() -> None:
    wide = replace(candidate(), drawn=DrawnTotals(900.0, 1200.0, (900.0, 1200.0)))
    assert "0.900 .. 1.20" in decision_table(decision(wide))
    with page(55):
        narrow = decision_table(decision(wide))
    assert "1.20" not in narrow
    assert "30.0" in narrow
    assert "no room for 90 % interval" in narrow


def test_what_is_out_is_reported_by_reason() -> None:
    out = (
        RuledOut("act16", "sd835", "dsp", "it has 8 bits", limit=False),
        RuledOut("axis+act16", "sd855", "dsp", "it has 8 bits", limit=False),
        RuledOut("axis", "sd855", "dsp", "9 ms, over max_ms 5", limit=True),
    )
    text = ruled_out(decision(candidate(), out=out))
    assert "act16, axis+act16 on sd835 dsp, sd855 dsp: it has 8 bits" in text
    assert "1 beyond max_ms (all=True shows them)" in text
    every = ruled_out(decision(candidate(), out=out), every=True)
    assert "axis on sd855 dsp: 9 ms, over max_ms 5" in every
    assert ruled_out(decision(candidate())) == ""


def test_nothing_left_names_something_that_is_out() -> None:
    out = (RuledOut("axis", "sd855", "dsp", "9 ms, over max_ms 5", limit=True),)
    said = recommendation(decision(out=out))
    assert said == "Nothing is within the limits.\naxis on sd855 dsp: 9 ms, over max_ms 5."


def test_facts_and_csv_have_the_same_columns() -> None:
    decided = decision(candidate(sqnr_db=None))
    (choice,) = decision_facts(decided, ["hexsim profile m"])["choices"]
    assert list(choice) == [*choice_facts.fields(), "outputs", "findings"]
    assert choice["sqnr_db"] is None
    assert choice["in_front"] is True
    header, row = decision_csv(decided).splitlines()
    assert header.split(",") == list(choice_facts.fields())
    assert row.startswith("1,default,")


def test_changes_that_help_have_times_and_say_whether_to_retrain() -> None:
    times, saved = (2000.0, 1500.0), (300.0, 700.0)
    tried = TriedChange("33 channels as 32", ("a", "b"), *times, False, "64 are computed", *saved)
    decided = replace(decision(candidate()), changes=(tried,))
    title, _, _, row = changes(decided).splitlines()
    assert title == "Changes of the network that would help"
    assert re.split("  +", row) == [
        *("33 channels as 32", "2", "a", "2.00", "1.50", "25.0%", "0.300 .. 0.700"),
        *("change: retrain", "64 are computed"),
    ]
    (fact,) = decision_facts(decided, ())["changes"]
    assert (fact["layers"], fact["gain"], fact["saved_low_us"]) == (["a", "b"], 0.25, 300.0)
    assert changes(decision(candidate())).startswith("None of the changes of the network")
    assert changes(decision()) == ""
