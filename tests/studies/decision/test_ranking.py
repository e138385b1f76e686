"""The order of candidates, which of them nothing beats, and what is beyond the limits."""

import pytest

from hexsim.results.decision import Limits, heads
from hexsim.studies.decision import PREFERENCES
from hexsim.studies.decision.ranking import cost_beyond, ranked, rule, two_digits, worth_beyond
from tests.studies.decision.decided import candidate


def test_latency_counts_to_two_digits_then_accuracy() -> None:
    quick, exact, slow = (
        candidate(1010.0, sqnr_db=20.0),
        candidate(1040.0, sqnr_db=40.0),
        candidate(1200.0, sqnr_db=60.0),
    )
    best_first = ranked([slow, quick, exact], "latency")
    assert [candidate.ms for candidate in best_first] == [1.04, 1.01, 1.2]


def test_lost_points_come_before_noise() -> None:
    noisy, wrong = candidate(sqnr_db=10.0), candidate(sqnr_db=50.0, loss=10.0)
    assert [candidate.loss_points for candidate in ranked([wrong, noisy], "accuracy")] == [
        0.0,
        10.0,
    ]


def test_of_equal_ones_the_plainer_comes_first() -> None:
    best_first = ranked([candidate(mode=3), candidate(mode=1), candidate(mode=2)], "latency")
    assert [candidate.order for candidate in best_first] == [1, 2, 3]


def test_memory_first_if_asked() -> None:
    small, quick = candidate(9e4, peak_bytes=2**18), candidate(1e3, peak_bytes=2**22)
    assert ranked([quick, small], "memory")[0].peak_bytes == small.peak_bytes
    assert ranked([quick, small], "latency")[0].peak_bytes == quick.peak_bytes


def test_answers_without_noise_are_the_most_accurate() -> None:
    best_first = ranked([candidate(sqnr_db=90.0), candidate(sqnr_db=None)], "accuracy")
    assert best_first[0].sqnr_db is None


def test_the_front_has_what_nothing_beats_in_everything() -> None:
    quick, exact, beaten = (
        candidate(1000.0, sqnr_db=20.0),
        candidate(3000.0, sqnr_db=40.0),
        candidate(4000.0, sqnr_db=39.0),
    )
    small = candidate(5000.0, sqnr_db=10.0, peak_bytes=2**10)
    front = {
        candidate.ms: candidate.in_front
        for candidate in ranked([quick, exact, beaten, small], "latency")
    }
    assert front == {1.0: True, 3.0: True, 4.0: False, 5.0: True}


def test_equal_candidates_are_both_in_front() -> None:
    assert all(
        candidate.in_front for candidate in ranked([candidate(), candidate(mode=2)], "latency")
    )


def test_heads_are_the_first_of_each_place() -> None:
    candidates = [candidate(mode=2), candidate(mode=1), candidate(runtime="aip", cut="fastest")]
    assert heads(candidates) == (candidates[0], candidates[2])


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(max_ms=0.9), "1.00 ms, over max_ms 0.9"),
        (Limits(max_ms=1.0), None),
        (Limits(max_mb=0.5), "1.00 MiB at its peak, over max_mb 0.5"),
        (Limits(max_mb=1.0), None),
    ],
)
def test_what_costs_too_much(limits: Limits, sentence: str | None) -> None:
    assert cost_beyond(limits, candidate()) == sentence
    assert worth_beyond(limits, candidate()) is None


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(max_loss=1.0), "loses 2.00 points, over max_loss 1"),
        (Limits(max_loss=2.0), None),
        (Limits(min_db=31.0), "30.0 dB, under min_db 31"),
        (Limits(min_db=30.0), None),
    ],
)
def test_what_answers_too_badly(limits: Limits, sentence: str | None) -> None:
    assert worth_beyond(limits, candidate(loss=2.0)) == sentence
    assert limits.about_accuracy
    assert worth_beyond(Limits(min_db=31.0), candidate(sqnr_db=None)) is None


def test_every_preference_says_its_rule() -> None:
    assert len({rule(preference) for preference in PREFERENCES}) == len(PREFERENCES)


def test_two_digits() -> None:
    assert [two_digits(value) for value in (0.0, 1249.0, 1251.0, 9.96)] == [0.0, 1200, 1300, 10.0]
