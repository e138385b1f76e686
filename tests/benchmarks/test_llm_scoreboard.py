"""The scoreboard of language models: its page is that of today, and it fits what it says."""

from __future__ import annotations

import pytest

from benchmarks.llm_scoreboard import (
    PAGE,
    architecture_of,
    board,
    bound_s,
    cases,
    each,
    fitted,
    modelled_s,
    stated,
    widths_of,
)
from benchmarks.measured.llm import llm_rows
from benchmarks.pages import block
from hexsim.datasheets import chips
from hexsim.deployment.platform import Platform
from hexsim.llm.network import Conditions
from hexsim.studies.language_model import speed_of

RENEW = "python -m benchmarks.accuracy_of_times FOLDER --write"


@pytest.mark.slow
def test_the_page_is_that_of_today() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert block(text, "scoreboard").strip() == board(), RENEW
    assert block(text, "rows").strip() == each(), RENEW


@pytest.mark.slow
def test_the_release_states_the_result_of_the_fit() -> None:
    assert fitted(cases()) == pytest.approx(stated())


def test_the_closed_form_is_the_simulation() -> None:
    """For the token and the block of a row, with the constants of the release."""
    row = next(row for row in llm_rows() if row.model == "llama_v3_2_1b_instruct")
    conditions = Conditions(widths_of(row), context=row.context_length)
    speed = speed_of(architecture_of(row), Platform.load(row.chip), conditions)
    assert modelled_s((row, 1), stated()) == pytest.approx(speed.token.ms / 1e3, rel=1e-6)
    assert modelled_s((row, row.block), stated()) == pytest.approx(speed.block.ms / 1e3, rel=1e-6)


def test_the_first_rule_is_bytes_over_bandwidth() -> None:
    """Llama 3.2 1B: 16 layers of 60.8 million weights in 4 bits, the head in 8, the cache in 8."""
    row = next(
        row
        for row in llm_rows()
        if (row.model, row.precision) == ("llama_v3_2_1b_instruct", "w4a16")
    )
    moved = 16 * 60_817_408 / 2 + 128_256 * 2048 + 2 * 16 * 8 * 64 * 4096
    efficiency = dict(chips.load(row.chip).quantities())["memory.efficiency"].value
    assert bound_s((row, 1)) == pytest.approx(moved / (84.8e9 * efficiency))


def test_a_time_that_repeats_another_row_is_not_scored() -> None:
    repeated = [row for row in llm_rows() if row.repeats_another]
    assert [(row.model, row.precision) for row in repeated] == [("llama_v3_2_3b_instruct", "w4")]
    assert (repeated[0], repeated[0].block) not in cases()
    assert (repeated[0], 1) in cases()
