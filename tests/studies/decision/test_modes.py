"""Modes by name, and those that keep layers float.

The words of the commands that give a candidate's figures again.

The order of candidates, which of them nothing beats, and what is beyond the limits.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from msgspec import structs

from hexsim.errors import HexsimError
from hexsim.quantization.overrides.aimet import read_aimet
from hexsim.results.decision import Limits, Preference, heads
from hexsim.studies.decision import MODES, parse_modes
from hexsim.studies.decision.modes import (
    CommandOptions,
    commands,
    cost_beyond,
    encodings_file,
    is_eight_bit,
    ranked,
    rule,
    two_digits,
    worth_beyond,
)
from tests.studies.decision.decided import candidate


def test_all_are_asked_for_by_default_and_in_the_order_of_the_list() -> None:
    assert parse_modes(None) == (MODES, True)
    modes, mixed = parse_modes(" axis,default ,AXIS")
    assert ([mode.name for mode in modes], mixed) == (["default", "axis"], False)
    assert parse_modes("axis,mixed") == ((MODES[4],), True)


@pytest.mark.parametrize("text", ["", "mixed", "float,mixed", "int4", "act16,mixed"])
def test_mistakes(text: str) -> None:
    with pytest.raises(HexsimError, match=r"known: |did you mean|names no mode"):
        parse_modes(text)


def test_the_file_says_what_the_overrides_are(tmp_path: Path) -> None:
    mode = MODES[4].keeping("axis+2float", ["a", "b 'c'"])
    (tmp_path / "o.json").write_text(encodings_file(mode.floats))
    assert read_aimet(tmp_path / "o.json") == mode.overrides
    assert set(json.loads(encodings_file(mode.floats))["activation_encodings"]) == {"a", "b 'c'"}
    assert mode.words == ("--axis-quant", "--override-params")


def test_which_modes_have_8_bits() -> None:
    eight = [mode.name for mode in MODES if is_eight_bit(mode)]
    assert eight == ["default", "enhanced", "bias32", "axis", "axis+bias32", "cle", "cle+bc"]
    assert not is_eight_bit(MODES[1].keeping("one", ["a"]))


WORDS = CommandOptions(
    "my models/a b.onnx",
    calibration=("--images", "photos"),
    inputs=("--images", "photos", "--labels", "l.csv"),
    platform=("--stack", "snpe-1.30"),
    calling=("--idle-ms", "5.0"),
)


def test_floats_need_no_file() -> None:
    profile, validate = map(shlex.split, commands(candidate(mode=0, runtime="cpu"), WORDS))
    where = "--chip sd855 --stack snpe-1.30 --runtime cpu"
    assert profile == ["hexsim", "profile", WORDS.model, *f"{where} --idle-ms 5.0".split()]
    assert validate[:3] == ["hexsim", "validate", WORDS.model]
    assert validate[-4:] == list(WORDS.inputs)


def test_names_with_blanks_are_quoted() -> None:
    quantize, *_ = map(shlex.split, commands(candidate(mode=4), WORDS))
    assert quantize[2] == "my models/a b.onnx"
    assert quantize[-3:] == ["--axis-quant", "--output", "a b_decided.dlc"]


def test_sections_are_compiled_for_the_chip() -> None:
    fastest = candidate(runtime="aip", cut="fastest")
    fastest = structs.replace(fastest, hta_partitions="0-4,6-9")
    (quantize, *_) = commands(fastest, WORDS)
    assert "--enable-hta --chip sd855 --stack snpe-1.30 --hta-partitions 0-4,6-9 " in quantize
    (quantize, *_) = commands(candidate(runtime="aip", cut="automatic"), WORDS)
    assert "--enable-hta --chip sd855 --stack snpe-1.30 --output" in quantize
    (quantize, *_) = commands(candidate(runtime="aip", cut="none"), WORDS)
    assert "--enable-hta" not in quantize


def test_shapes_and_float_layers_are_settled_by_converting_first() -> None:
    shaped = replace(WORDS, dims=("--input-dim", "x 1,3,8,8"))
    first, second, *_ = map(shlex.split, commands(candidate(), shaped))
    assert first[1:2] + first[3:5] == ["convert", "--input-dim", "x 1,3,8,8"]
    assert second[1:3] == ["quantize", first[-1]]
    mode = MODES[1].keeping("one", ["it's"])
    mixed = structs.replace(
        candidate(), mode="one", quantizer_words=mode.words, float_tensors=mode.floats
    )
    written, converted, quantized, *_ = map(shlex.split, commands(mixed, WORDS))
    assert written[0] == "echo"
    assert '"it\'s"' in written[1]
    assert converted[-4:-2] == ["--quantization-overrides", written[-1]]
    assert "--override-params" in quantized


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
    beyond = cost_beyond(limits, candidate())
    assert (beyond and str(beyond)) == sentence
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
    beyond = worth_beyond(limits, candidate(loss=2.0))
    assert (beyond and str(beyond)) == sentence
    assert limits.about_accuracy
    assert worth_beyond(Limits(min_db=31.0), candidate(sqnr_db=None)) is None


def test_every_preference_says_its_rule() -> None:
    assert len({rule(preference) for preference in get_args(Preference)}) == 4


def test_two_digits() -> None:
    assert [two_digits(value) for value in (0.0, 1249.0, 1251.0, 9.96)] == [0.0, 1200, 1300, 10.0]
