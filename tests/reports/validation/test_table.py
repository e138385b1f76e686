"""The text of a validation: what is asked for is there, the culprit on top."""

import math
from dataclasses import replace

from hexsim.accuracy.remedies import RemedyTrial
from hexsim.reports.validation.table import validation_text
from hexsim.texts.figures import percent
from tests.reports.studies import study


def test_the_summary_has_scores_of_both_sides() -> None:
    text, hits = validation_text(study(), every_layer=False), study().validation.hits
    lines = text.splitlines()
    assert lines[:2] == ["broken on sd835 dsp, 6 inputs", "  a note"]
    shares = (hits.float_top1, hits.runtime_top1, hits.float_top5, hits.runtime_top5)
    texts = [percent(share / 6) for share in shares]
    assert lines[2] == f"top-1: float {texts[0]}, dsp {texts[1]}"
    assert lines[3] == f"top-5: float {texts[2]}, dsp {texts[3]}"
    assert lines[4] == f"same winner as float: {hits.same_top1} of 6"
    assert "top-1" not in validation_text(study(asked=False), every_layer=False)


def test_top_5_is_not_reported_of_five_classes() -> None:
    validated = study().validation
    assert validated.ranked
    few = replace(study(), validation=replace(validated, ranked=False))
    assert "top-5" not in validation_text(few, every_layer=False)


def test_worst_first_or_network_order() -> None:
    def first_column(every_layer: bool) -> list[str]:
        table = validation_text(study(asked=False), every_layer=every_layer).split("\n\n")[1]
        return [line.split()[0] for line in table.splitlines()[3:]]

    assert first_column(True) == ["in", "c0", "c1", "c2", "c3", "fc"]
    assert first_column(False)[0] == "c2"


def test_ranking_and_reasons() -> None:
    _, _, ranking, *reasons = validation_text(study(), every_layer=False).split("\n\n")
    assert [line.split()[0] for line in ranking.splitlines()[3:]] == [
        row.layer
        for row in study().sensitivity.layers  # type: ignore[union-attr]
    ]
    assert reasons[0].startswith("c2 (convolutional), alone on float inputs: ")
    assert "dominates: range outlier channel. channel 3 of weight 'c2.w'" in reasons[0]
    assert "(--axis-quant)" in reasons[0]
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
        RemedyTrial((name,), 20.0, db)
        for name, db in (("axis", 24.0), ("bias", 20.04), ("clip", 18.0))
    )
    both = RemedyTrial(("axis", "clip"), 20.0, 23.0)
    studied = replace(study(), remedies=(better, both, same, worse))
    assert validation_text(studied, every_layer=False).split("\n\n")[-1].splitlines()[1:] == [
        "  24.0 dB: axis",
        "  23.0 dB: together: axis; clip",
        "  2 other trials did not make the outputs better.",
    ]


def test_infinite_figures_are_words() -> None:
    studied = study(asked=False)
    rows = [replace(row, sqnr_db=math.inf, encoding=None) for row in studied.validation.layers]
    exact = replace(studied, validation=replace(studied.validation, layers=tuple(rows)))
    assert "inf" in validation_text(exact, every_layer=True)
