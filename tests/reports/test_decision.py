"""A decision in words: the reasons name what made the difference."""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from hexsim.reports.decision import (
    changes,
    decision_table,
    files_tables,
    out_groups,
    recommendation,
    ruled_out,
)
from hexsim.reports.text import page
from hexsim.results.decision import (
    Choice,
    Decision,
    FileChoice,
    Limits,
    Rival,
    RuledOut,
    TriedChange,
    heads,
)
from hexsim.results.document import columns
from hexsim.studies.decision.modes import ranked, rule
from tests.studies.decision.decided import candidate


def out(mode: str, chip: str, where: str, reason: str, *, limit: bool) -> RuledOut:
    """What is ruled out; the reason of a limit begins with the figure."""
    out = RuledOut(mode=mode, chip=chip, where=where, reason=reason, limit=limit)
    beyond = reason.partition(", ")[0]
    return replace(out, figure=beyond, value=float(beyond.split()[0])) if limit else out


def decision(
    *candidates: Choice, out: tuple[RuledOut, ...] = (), sure: float | None = None
) -> Decision:
    """What is decided on ten inputs of a classifier without labels.

    In a share `sure` of the draws the first is quicker than the best elsewhere.
    """
    best = ranked(candidates, "latency")
    others = heads(best)[1:]
    elsewhere = [other for other in others if other.hardware != best[0].hardware] or others
    return Decision(
        network="n",
        inputs=10,
        notes=("seeded",),
        rule=rule("latency"),
        limits=Limits(max_ms=5.0),
        choices=best,
        ruled_out=out,
        classifier=True,
        rival=Rival(rank=elsewhere[0].rank, first_quicker_share=sure) if elsewhere else None,
    )


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (candidate(1500.0, runtime="aip"), "which takes 1.50 times as long"),
        (candidate(runtime="aip", loss=20.0), "which loses 20.0 points more"),
        (candidate(runtime="aip", sqnr_db=28.0), "which has 28.0 dB"),
        (candidate(1001.0, runtime="aip"), "which takes 1.00 times as long"),
        (candidate(runtime="aip", mode=3), "which is no better and less plain"),
        (
            replace(candidate(2000.0, runtime="aip"), expected_us=3000.0),
            "which takes 2.00 times as long (3.00 by the middles of intervals)",
        ),
    ],
)
def test_the_reason_is_the_first_that_tells_two_apart(other: Choice, sentence: str) -> None:
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
    dsp = replace(dsp, low_us=3700.0, high_us=5400.0, expected_us=1.064 * 4200.0)
    aip = replace(candidate(4300.0, runtime="aip"), expected_us=1.064 * 4300.0)
    fixed = candidate(3510.0, runtime="fxp_cpu")
    fixed = replace(fixed, low_us=2600.0, high_us=13400.0, expected_us=1.68 * 3510.0)
    fixed = replace(fixed, energy_mj=5 * dsp.energy_mj)
    choice = decision(fixed, aip, dsp, sure=0.5)
    said = recommendation(choice)
    best = choice.choices[0]
    assert best == replace(dsp, rank=1, in_front=best.in_front)
    assert "Next elsewhere is default on sd855 fxp_cpu, which would take 3.51 ms" in said
    assert "and takes 5.00 times the energy; the first is the quicker one in 50% of draws" in said
    assert "with the constants as stated, but is known less well (2.60 .. 13.4)" in said


def test_noise_comes_last() -> None:
    noisy, good = candidate(100.0, sqnr_db=3.7), candidate(5000.0, runtime="aip", sqnr_db=12.0)
    choice = decision(noisy, good)
    assert [candidate.sqnr_db for candidate in choice.choices] == [12.0, 3.7]
    assert "1 choice with outputs under 10 dB" in recommendation(choice)
    assert "seeded inputs say little" in recommendation(replace(choice, seeded=True))
    assert "The outputs of no choice have 10 dB" in recommendation(decision(noisy))


def test_energies_have_three_digits_and_no_powers() -> None:
    much = candidate()
    spent = replace(much, energy_mj=2961.4, energy_low_mj=152.25, energy_high_mj=5900.2)
    decided = decision(spent)
    assert "2961 mJ (152 .. 5900)" in recommendation(decided)
    assert " 2961 " in decision_table(decided)


def test_one_choice_and_one_input_are_singular() -> None:
    decided = replace(decision(candidate()), inputs=1)
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
    wide = replace(candidate(), low_us=900.0, high_us=1200.0)
    assert "0.900 .. 1.20" in decision_table(decision(wide))
    with page(55):
        narrow = decision_table(decision(wide))
    assert "1.20" not in narrow
    assert "30.0" in narrow
    assert "no room for 90 % interval" in narrow


def test_what_is_out_is_reported_by_reason() -> None:
    ruled = (
        out("act16", "sd835", "dsp", "it has 8 bits", limit=False),
        out("axis+act16", "sd855", "dsp", "it has 8 bits", limit=False),
        out("axis", "sd855", "dsp", "9 ms, over max_ms 5", limit=True),
    )
    text = ruled_out(decision(candidate(), out=ruled))
    assert "act16, axis+act16 on sd835 dsp, sd855 dsp: it has 8 bits" in text
    assert "1 beyond max_ms (all=True shows them)" in text
    every = ruled_out(decision(candidate(), out=ruled), every=True)
    assert "axis on sd855 dsp: 9 ms, over max_ms 5" in every
    assert ruled_out(decision(candidate())) == ""


def test_nothing_left_names_something_that_is_out() -> None:
    ruled = (out("axis", "sd855", "dsp", "9 ms, over max_ms 5", limit=True),)
    said = recommendation(decision(out=ruled))
    assert said == "Nothing is within the limits.\naxis on sd855 dsp: 9 ms, over max_ms 5."


def test_json_and_csv_have_the_same_columns() -> None:
    decided = decision(candidate(sqnr_db=None))
    (choice,) = json.loads(decided.to_json())["choices"]
    assert list(choice) == [*columns(Choice).values(), "outputs", "findings"]
    assert choice["sqnr_db"] is None
    assert choice["in_front"] is True
    header, row = decided.to_csv().splitlines()
    assert header.split(",") == list(columns(Choice).values())
    assert row.startswith("1,default,")
    assert decision().to_csv() == f"{header}\n", "the columns are there without any choice"


def test_changes_that_help_have_times_and_say_whether_to_retrain() -> None:
    tried = TriedChange(
        name="33 channels as 32",
        layers=("a", "b"),
        before_us=2000.0,
        after_us=1500.0,
        same_answers=False,
        remark="64 are computed",
        saved_low_us=300.0,
        saved_high_us=700.0,
        gain=0.25,
    )
    decided = replace(decision(candidate()), changes=(tried,))
    title, _, _, row = changes(decided).splitlines()
    assert title == "Changes of the network that would help"
    assert re.split("  +", row) == [
        *("33 channels as 32", "2", "a", "2.00", "1.50", "25.0%", "0.300 .. 0.700"),
        *("change: retrain", "64 are computed"),
    ]
    (fact,) = json.loads(decided.to_json())["changes"]
    assert (fact["layers"], fact["gain"], fact["saved_low_us"]) == (["a", "b"], 0.25, 300.0)
    assert changes(decision(candidate())).startswith("None of the changes of the network")
    assert changes(decision()) == ""


OUT = (
    out("axis", "sd855", "dsp", "9.5 ms, over max_ms 5", limit=True),
    out("act16", "sd835", "dsp", "8 bits, no more", limit=False),
    out("cle", "sd855", "dsp", "12 ms, over max_ms 5", limit=True),
    out("cle", "sd835", "dsp", "21 dB, under min_db 30", limit=True),
    out("axis", "sd835", "dsp", "9 dB, under min_db 30", limit=True),
)


def test_a_limit_is_one_group_from_the_nearest_to_the_furthest() -> None:
    slow, refused, noisy = out_groups(OUT)
    assert (slow.limit, slow.nearest, slow.furthest) == ("max_ms", "9.5 ms", "12 ms")
    assert (slow.modes, slow.places) == (("axis", "cle"), ("sd855 dsp",))
    assert (refused.reason, refused.limit, refused.nearest) == ("8 bits, no more", "", "")
    assert (noisy.limit, noisy.nearest, noisy.furthest) == ("min_db", "21 dB", "9 dB")


def test_each_is_in_one_group() -> None:
    assert sorted(len(out_group.candidates) for out_group in out_groups(OUT)) == [1, 2, 2]


def test_what_is_said_of_several_places_is_said_once() -> None:
    places = (("sd835", "dsp"), ("sd855", "dsp"), ("sd855", "aip (no HTA section)"))

    def reasons(owner: str) -> list[str]:
        ruled = [
            out("act16", chip, where, _refusal(where, owner.format(chip)), limit=False)
            for chip, where in places
        ]
        assert out_groups(ruled)[0].places == (
            "sd835 dsp",
            "sd855 dsp",
            "sd855 aip (no HTA section)",
        )
        return [group.reason for group in out_groups(ruled)]

    assert reasons("chip {}") == ["16 bits, and the runtime has 8"]
    assert reasons("stack snpe-1.30") == ["16 bits, and the runtime of stack snpe-1.30 has 8"]


def _refusal(where: str, owner: str) -> str:
    return f"16 bits, and {where.split()[0]} of {owner} has 8"


REFUSED = FileChoice(
    file="float",
    file_bytes=3 * 2**19,
    runtime="aip",
    loading="refused",
    refusal="it is too early",
    chip="sd855",
    stack="snpe-1.30",
)


def test_a_refused_file_has_its_reason_on_a_page_of_any_width() -> None:
    compared = Decision(network="n", inputs=1, files=(REFUSED,), classifier=True)
    for labelled, columns_shown in ((False, 10), (True, 11)):
        text = files_tables(replace(compared, labelled=labelled))
        header, rule_, row, why = text.splitlines()
        assert len(rule_.split()) == columns_shown
        assert ("top-1" in header) is labelled
        assert row.split()[:3] == ["float", "1.50", "aip"]
        assert row.endswith("refused")
        assert why == "float on aip: it is too early"
    own = files_tables(replace(compared, reference="the file's own weights"))
    assert "SQNR dB, own weights" in own
    with page(60):
        narrow = files_tables(replace(compared, labelled=True))
    assert "no room for" in narrow
    assert narrow.endswith("\nfloat on aip: it is too early")
    several = files_tables(replace(compared, files=(REFUSED, replace(REFUSED, chip="sd865"))))
    assert [line for line in several.splitlines() if line.endswith("snpe-1.30")] == [
        "sd855, snpe-1.30",
        "sd865, snpe-1.30",
    ]


def test_unknown_figures_of_a_file_are_empty_in_csv() -> None:
    compared = Decision(network="n", inputs=1, files=(REFUSED,))
    header, row = compared.to_csv().splitlines()
    assert header.split(",") == list(columns(FileChoice).values())
    assert row.startswith(f"float,{3 * 2**19},aip,refused,it is too early,,")
