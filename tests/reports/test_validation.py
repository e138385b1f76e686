"""A validation as text, JSON and CSV: what is asked for is there, the culprit on top."""

import csv
import dataclasses
import io
import json

from msgspec.structs import replace

from hexsim.accuracy.validation import validate
from hexsim.reports.validation import validation_csv, validation_text
from hexsim.results.accuracy import OutputAccuracy
from hexsim.results.validation import HitCounts, RemedyTrial, Validation
from hexsim.texts.figures import percent
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.reports.studies import study


def test_the_summary_has_scores_of_both_sides() -> None:
    text, hits = validation_text(study()), study().hits
    lines = text.splitlines()
    assert lines[:2] == [
        "broken on the DSP (dsp) of sd835: 6 inputs compared with float",
        "  a note",
    ]
    shares = (hits.float_top1, hits.runtime_top1, hits.float_top5, hits.runtime_top5)
    texts = [percent(share / 6) for share in shares]
    assert lines[2] == f"top-1: float {texts[0]}, dsp {texts[1]}"
    assert lines[3] == f"top-5: float {texts[2]}, dsp {texts[3]}"
    assert lines[4] == f"same winner as float: {hits.same_top1} of 6"
    assert "top-1" not in validation_text(study(asked=False))


def test_outputs_that_are_no_answer_are_called_so() -> None:
    answer = study()
    said = "dB, under the 10 dB of an answer that can be used"
    bad, good = (
        replace(answer, outputs=(OutputAccuracy(tensor="y", sqnr_db=db),)) for db in (9.0, 11.0)
    )
    assert f"SQNR of the outputs: 9.00 {said}" in validation_text(bad)
    assert said not in validation_text(good)


def test_top_5_is_not_reported_of_five_classes() -> None:
    """The counts would say nothing: all classes are among the best five."""
    model, feeds = culprits.quantized("outlier"), culprits.inputs(1)
    answer = validate(deployed(model), feeds, labels=[(1,)])
    few = replace(answer, hits=replace(answer.hits, float_top5=None, runtime_top5=None))
    assert "top-1" in validation_text(few)
    assert "top-5" not in validation_text(few)


def test_worst_first_or_network_order() -> None:
    def first_column(every_layer: bool) -> list[str]:
        table = validation_text(study(asked=False), every_layer=every_layer).split("\n\n")[1]
        return [line.split()[0] for line in table.splitlines()[3:]]

    assert first_column(True) == ["in", "c0", "c1", "c2", "c3", "fc"]
    assert first_column(False)[0] == "c2"


def test_ranking_and_reasons() -> None:
    _, _, ranking, *reasons = validation_text(study()).split("\n\n")
    assert [line.split()[0] for line in ranking.splitlines()[3:]] == [
        row.layer
        for row in study().sensitivity.layers  # type: ignore[union-attr]
    ]
    assert reasons[0].startswith("c2 (convolutional), alone on float inputs: ")
    assert "dominates: range outlier channel. channel 3 of weight 'c2.w'" in reasons[0]
    assert "(axis_weights=True)" in reasons[0]
    assert reasons[1].startswith("c0")
    tried = study().remedies
    assert tried is not None
    head, *lines = reasons[-1].splitlines()
    assert head.endswith(f"{tried[0].before_db:.1f} dB as it is")
    helpful = [trial for trial in tried if trial.helps]
    assert 0 < len(helpful) < len(tried)
    assert len(lines) == len(helpful) + 1
    for line, trial in zip(lines, helpful, strict=False):
        together = "together: " if len(trial.remedies) > 1 else ""
        name = f"{together}{'; '.join(trial.remedies)}"
        assert line == f"  {trial.after_db:.1f} dB: {name}"
    assert lines[-1].endswith("did not make the outputs better.")


def test_what_makes_it_worse_is_no_remedy() -> None:
    better, same, worse = (
        RemedyTrial(remedies=(name,), before_db=20.0, after_db=db)
        for name, db in (("axis", 24.0), ("bias", 20.04), ("clip", 18.0))
    )
    both = RemedyTrial(remedies=("axis", "clip"), before_db=20.0, after_db=23.0)
    studied = replace(study(), remedies=(better, both, same, worse))
    assert validation_text(studied).split("\n\n")[-1].splitlines()[1:] == [
        "  24.0 dB: axis",
        "  23.0 dB: together: axis; clip",
        "  2 other trials did not make the outputs better.",
    ]


def test_infinite_figures_are_words() -> None:
    studied = study(asked=False)
    rows = [replace(row, sqnr_db=None, encoding=None) for row in studied.layers]
    exact = replace(studied, layers=tuple(rows))
    assert "inf" in validation_text(exact, every_layer=True)


def test_json_has_all_of_a_validation_and_is_read_back() -> None:
    answer = study()
    document = json.loads(answer.to_json())
    assert document["hits"]["float_top1"] == answer.hits.float_top1
    assert [row["layer"] for row in document["layers"]] == ["in", "c0", "c1", "c2", "c3", "fc"]
    row, error = document["layers"][3], answer.layers[3]
    assert error.encoding is not None
    assert row["encoding"] == dataclasses.asdict(error.encoding)
    assert document["sensitivity"]["layers"][0]["layer"] == "c2"
    finding = document["diagnoses"][0]["findings"][0]
    assert (finding["kind"], finding["tensor"]) == ("range outlier channel", "c2.w")
    assert finding["remedy"] in document["remedies"][0]["remedies"]
    assert Validation.from_json(answer.to_json()) == replace(answer, graph=None)


def test_what_was_not_asked_is_null_and_infinity_too() -> None:
    model, feeds = culprits.quantized("outlier"), culprits.inputs(1)
    answer = replace(
        validate(deployed(model), feeds),
        outputs=(OutputAccuracy(tensor="scores"),),
        output_sqnr_db=None,
        hits=HitCounts(inputs=1),
    )
    document = json.loads(answer.to_json())
    assert document["hits"].pop("inputs") == 1
    assert set(document["hits"].values()) == {None}
    assert document["output_sqnr_db"] is None
    assert document["outputs"] == [{"tensor": "scores", "sqnr_db": None, "negligible": False}]
    assert document["sensitivity"] is None
    assert document["diagnoses"] is None
    assert Validation.from_json(answer.to_json()) == answer
    assert "scores no classes" in validation_text(answer)


def test_rows_in_network_order() -> None:
    rows = list(csv.DictReader(io.StringIO(validation_csv(study()))))
    errors = study().layers
    assert [row["tensor"] for row in rows] == [error.tensor for error in errors]
    assert [float(row["sqnr_db"]) for row in rows] == [error.sqnr_db for error in errors]
    ranked = {row.layer: row.only_db for row in study().sensitivity.layers}  # type: ignore[union-attr]
    assert {r["layer"]: float(r["only_db"]) for r in rows if r["only_db"]} == ranked


def test_columns_of_sensitivity_are_empty_without_it() -> None:
    rows = csv.DictReader(io.StringIO(validation_csv(study(asked=False))))
    assert {(row["only_db"], row["others_db"]) for row in rows} == {("", "")}
