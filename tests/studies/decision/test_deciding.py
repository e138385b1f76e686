"""A decision says what the commands beside it say, and does nothing twice."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.validation import validate
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import prepared
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.files import checkpoint
from hexsim.inputs.source import listed, seeded_source
from hexsim.layers import UserDefined
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.reports.decision import decision_text
from hexsim.results.decision import Decision, Limits
from hexsim.results.validation import most_added
from hexsim.studies.decision import Question, decide, deciding, parse_modes, parts
from hexsim.studies.decision.deciding import AS_DSP, WHOLE
from hexsim.udl import known, use_layers
from tests.hearing import hearing
from tests.own_layers import FILE, model
from tests.studies.decision.decided import CLASSES, ITEMS, write_files


class Answered(NamedTuple):
    """A decision, and the folder of what was stored for the next run."""

    decision: Decision
    stored: Path


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """The question, answered once."""
    folder = tmp_path_factory.mktemp("answered")
    with pytest.MonkeyPatch.context() as monkeypatch:
        asked = _question(folder, monkeypatch)
        return Answered(decide(asked), folder / "kept")


@pytest.fixture(autouse=True)
def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Question:
    """A small question with a folder of its own for what is kept."""
    return _question(tmp_path, monkeypatch)


@pytest.fixture
def first(question: Question, answered: Answered, tmp_path: Path) -> Decision:
    """The answer to the question, of which all is stored that a second run may take."""
    shutil.copytree(answered.stored, tmp_path / "kept", dirs_exist_ok=True)
    return answered.decision


def _question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Question:
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "private_folder", lambda name: folder)
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    read = load_container("m.onnx")
    network = read.model.network
    modes, mixed = parse_modes("float,default,axis")
    return Question(
        source="m.onnx",
        read=read,
        inputs=listed(Path("list.txt"), network),
        calibration=listed(Path("list.txt"), network),
        platforms=[Platform.load("sd855")],
        labels=tuple((index,) for index in range(ITEMS)),
        runtimes=["cpu", "dsp", "aip"],
        modes=modes,
        mixed=mixed,
    )


def test_times_and_answers_are_those_of_the_deployment(
    question: Question, answered: Answered
) -> None:
    network, (platform,) = question.read.model.network, question.platforms
    decided = answered.decision
    default = next(mode for mode in question.modes if mode.name == "default")
    model = quantize_optimized(network, question.inputs.feeds, default.options).model
    for candidate in decided.choices:
        if candidate.mode == "default" and candidate.cut in ("", "automatic"):
            deployment = deploy(
                prepared(model, platform, candidate.runtime), platform, candidate.runtime
            )
            assert candidate.total_inference_us == deployment.simulate().total_us
            assert candidate.peak_bytes == deployment.memory().peak_bytes
            checked = validate(deployment, question.inputs.feeds(), labels=question.labels)
            assert candidate.sqnr_db == checked.output_sqnr_db
            assert candidate.same_top1 == checked.hits.same_top1
            assert candidate.runtime_top1 == checked.hits.runtime_top1
            assert decided.float_top1 == checked.hits.float_top1
    places = {(candidate.mode, candidate.runtime) for candidate in decided.choices}
    assert places == {("float", "cpu"), ("default", "dsp"), ("default", "aip"), ("axis", "dsp")}
    (as_dsp,) = (refusal for refusal in decided.ruled_out if refusal.mode == "axis")
    assert (as_dsp.where, as_dsp.reason) == (WHOLE, AS_DSP)


def test_timelines_are_those_of_the_best_choices(question: Question) -> None:
    two = replace(question, platforms=[Platform.load("sd855"), Platform.load("sd865")])
    decided = decide(replace(two, runtimes=["dsp"], perf_profile="balanced", idle_ms=3.0))
    results = decided.timelines()
    best = {
        f"{candidate.chip} dsp": candidate.total_inference_us
        for candidate in reversed(decided.choices)
    }
    assert {name: result.total_us for name, result in results.items()} == best
    assert set(results) == {"sd855 dsp", "sd865 dsp"}


def test_a_second_run_computes_nothing(
    question: Question, first: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("quantize_optimized", "deploy", "answers", "validate"):
        monkeypatch.setattr(parts, name, _never)
    assert decide(question).to_json() == first.to_json()


def test_a_full_disk_changes_nothing_but_a_remark(
    question: Question, answered: Answered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither if it is full from the beginning, nor if it becomes full on the way."""
    whole, write = len(list(answered.stored.iterdir())), checkpoint.write_bytes
    for room in (0, whole // 2):

        def fills(path: Path, data: bytes) -> None:
            if len(list(path.parent.iterdir())) >= room:  # noqa: B023 (called in this round)
                raise HexsimError(f"cannot write '{path.name}': No space left on device")
            write(path, data)

        monkeypatch.setattr(checkpoint, "write_bytes", fills)
        decided = decide(question)
        assert len(list((tmp_path / "kept").iterdir())) == room < whole
        assert re.fullmatch(r"cannot write '\w+\.json': No space left on device", decided.unstored)
        assert decided.to_json() == answered.decision.to_json()


def test_results_with_layers_of_the_user_are_not_stored(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their code may read any file, so no key would say when it changed."""
    monkeypatch.setattr(known, "_GIVEN", {})
    use_layers(FILE)
    network = hexsim.load(model()).network
    assert any(isinstance(layer, UserDefined) for layer in network.layers)
    assert parts.keeps_parts(question.read.model.network)
    assert not parts.keeps_parts(network)


@pytest.mark.usefixtures("first")
def test_answers_of_another_kind_of_cpu_are_computed_anew(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "compiled_for", lambda: ("x86_64", "another", "+avx2"))
    monkeypatch.setattr(parts, "answers", _never)
    with pytest.raises(AssertionError, match="this is kept"):
        decide(question)


def test_another_limit_takes_what_is_there(
    question: Question, first: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("quantize_optimized", "deploy", "answers", "validate"):
        monkeypatch.setattr(parts, name, _never)
    middle = sorted(candidate.ms for candidate in first.choices)[1]
    decided = decide(replace(question, limits=Limits(max_ms=middle)))
    assert all(candidate.ms <= middle for candidate in decided.choices)
    beyond = [refusal for refusal in decided.ruled_out if refusal.limit]
    assert len(decided.choices) + len(beyond) == len(first.choices)
    assert beyond
    assert all("over max_ms " in refusal.reason for refusal in beyond)


def test_other_labels_are_counted_anew(question: Question) -> None:
    asked = replace(question, runtimes=["cpu", "dsp"])
    counts = [
        _right(decide(replace(asked, labels=((number,),) * ITEMS))) for number in range(CLASSES)
    ]
    assert np.sum(counts, axis=0).tolist() == [ITEMS] * len(counts[0]), "each input has one best"


def test_layers_that_hurt_are_kept_float(question: Question) -> None:
    modes, mixed = parse_modes("default,mixed")
    decided = decide(replace(question, modes=modes, mixed=mixed, runtimes=["dsp"]))
    by_name = {candidate.mode: candidate for candidate in decided.choices}
    assert set(by_name) == {"default", "default+1float", "default+3float"}
    base, partly_float = by_name["default"], by_name["default+1float"]
    read, feeds = question.read.model.network, question.inputs.feeds
    coded = deploy(quantize_optimized(read, feeds).model, question.platforms[0], "dsp")
    worst = most_added(validate(coded, feeds()).layers)[0].tensor
    assert partly_float.float_tensors == (worst,)
    assert (partly_float.sqnr_db or 0.0) > (base.sqnr_db or 0.0)
    assert partly_float.ms > base.ms, "it crosses to the CPU and back"


def test_runtimes_of_the_chip_that_its_software_lacks_are_ruled_out(question: Question) -> None:
    modes, _ = parse_modes("float")
    decided = decide(
        replace(question, platforms=[Platform.load("sd865")], modes=modes, runtimes=())
    )
    (out,) = decided.ruled_out
    assert (out.mode, out.chip, out.where) == ("all", "sd865", "fxp_cpu")
    assert out.reason.startswith("stack qnn-2.45 has no fxp_cpu runtime")


def test_refusals_are_reported_and_limits_named(question: Question) -> None:
    modes, _ = parse_modes("act16")
    asked = replace(question, modes=modes, runtimes=["dsp", "fxp_cpu"])
    decided = decide(asked)
    (refused,) = decided.ruled_out
    assert (refused.mode, refused.where, refused.limit) == ("act16", "dsp", False)
    assert "16-bit activations" in refused.reason
    assert {candidate.runtime for candidate in decided.choices} == {"fxp_cpu"}


def test_a_time_without_interval_is_ranked_as_those_of_its_kind_of_engine(
    question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the CPU of one chip, drawn, would stand behind that of another as it is stated."""
    monkeypatch.setattr(deciding, "DRAWN", 1)
    runtimes = ["cpu", "fxp_cpu"]
    decided = decide(replace(question, draws=3, prefer="accuracy", runtimes=runtimes))
    ratios = {
        choice.place: choice.expected_us / choice.total_inference_us for choice in decided.choices
    }
    assert len(ratios) == 2
    assert sum(choice.low_us is not None for choice in decided.choices) == 1
    assert len({round(ratio, 9) for ratio in ratios.values()}) == 1
    assert 1.0 not in ratios.values()


def test_draws_give_the_head_an_interval(question: Question) -> None:
    decided = decide(replace(question, draws=4, runtimes=["dsp", "aip"]))
    drawn = [choice for choice in decided.choices if choice.low_us is not None]
    assert len(drawn) > 1
    for choice in drawn:
        assert len(choice.draws_us) == 4
        assert choice.high_us is not None
        assert (choice.low_us or 0.0) <= choice.total_inference_us <= choice.high_us
    assert len(decided.sure) == len(drawn) - 1
    assert all(0.0 <= share <= 1.0 for share in decided.sure)


def test_progress_counts_and_estimates(question: Question) -> None:
    with hearing() as first:
        decide(question)
    assert first.steps[0].startswith("1 of 5: float on sd855 cpu")
    assert "left" in first.steps[4]
    with hearing() as again:
        decide(question)
    assert again.steps
    assert not any("left" in step for step in again.steps), "nothing is computed that takes time"


@pytest.mark.parametrize("limits", [Limits(max_loss=1.0), Limits(min_db=20.0)])
def test_seeded_inputs_measure_no_accuracy(question: Question, limits: Limits) -> None:
    made_up = seeded_source(question.read.model.network)
    with pytest.raises(HexsimError, match="seeded inputs do not measure"):
        decide(replace(question, inputs=made_up, labels=None, limits=limits))


def test_a_runtime_that_no_chip_has(question: Question) -> None:
    platforms = [Platform.load("sd835")]
    with pytest.raises(HexsimError, match="aip"):
        decide(replace(question, platforms=platforms, runtimes=["aip"]))


def _never(*args: Any, **named: Any) -> Any:
    raise AssertionError("this is kept")


def _right(decision: Decision) -> list[int | None]:
    return [choice.runtime_top1 for choice in decision.choices]


@pytest.mark.parametrize("fails", ["simulate", "executor"])
def test_a_candidate_that_fails_is_ruled_out_and_nothing_else_is_lost(
    fails: str, question: Question, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = getattr(Deployment, fails)

    def fails_on_dsp(deployment: Deployment, *arguments: Any, **options: Any) -> Any:
        if deployment.runtime == "dsp":
            raise HexsimError("layer 'first' has no time")
        return works(deployment, *arguments, **options)

    monkeypatch.setattr(Deployment, fails, fails_on_dsp)
    decided = decide(replace(question, runtimes=["cpu", "dsp"]))
    others = [candidate for candidate in answered.decision.choices if candidate.runtime == "cpu"]
    assert [candidate.ms for candidate in decided.choices] == [candidate.ms for candidate in others]
    reasons = {(out.mode, out.reason, out.limit) for out in decided.ruled_out}
    assert reasons == {(mode, "layer 'first' has no time", False) for mode in ("default", "axis")}
    with pytest.raises(HexsimError, match="no candidate can run: layer 'first' has no time"):
        decide(replace(question, runtimes=["dsp"]))
    monkeypatch.setattr(Deployment, fails, works)
    assert len(decide(replace(question, runtimes=["dsp"])).choices) == 2, "failures are not stored"


def test_modes_that_fit_no_runtime_are_reported(question: Question) -> None:
    modes, _ = parse_modes("float")
    with pytest.raises(HexsimError, match="no mode of float runs on dsp; give others of modes"):
        decide(replace(question, runtimes=["dsp"], modes=modes))


def test_draws_that_fail_leave_the_candidate_without_interval(
    question: Question, first: Decision, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise HexsimError("a bound is none")

    monkeypatch.setattr(parts, "drawn", fail)
    decided = decide(replace(question, draws=3))
    assert [candidate.ms for candidate in decided.choices] == [
        candidate.ms for candidate in first.choices
    ]
    assert any("has no interval: a bound is none" in note for note in decided.notes)


def test_layers_are_ranked_by_quantising_one_at_a_time(
    question: Question, answered: Answered
) -> None:
    decided = decide(replace(question, sensitivity=True))
    ranked = decided.sensitivity
    assert ranked is not None
    head = decided.choices[ranked.rank - 1]
    assert head == next(c for c in decided.choices if c.runtime in ("dsp", "aip"))
    names = {layer.name for layer in question.read.model.network.layers}
    assert {layer.layer for layer in ranked.layers} <= names
    worst = [layer.only_db or 0.0 for layer in ranked.layers]
    assert worst == sorted(worst)
    assert ranked.all_db == pytest.approx(head.sqnr_db)
    floats, _ = parse_modes("float")
    none = decide(replace(question, modes=floats, mixed=False, sensitivity=True))
    assert none.sensitivity is None
    assert "no choice computes in integers" in none.notes[-1]


def test_a_decision_is_read_back_and_its_page_and_text_need_nothing_else(
    question: Question,
) -> None:
    decided = decide(replace(question, draws=3, sensitivity=True))
    again = Decision.from_json(decided.to_json())
    assert again.to_json() == decided.to_json()
    assert decision_text(again, every=True) == decision_text(decided, every=True)
    assert again.to_csv() == decided.to_csv()
