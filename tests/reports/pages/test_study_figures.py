"""The page of a validation begins with its answer and has what the terminal prints."""

import pytest

from tests.reports.pages.conftest import data_of
from tests.reports.pages.figures_of_page import figure
from tests.reports.studies import study

pytest.importorskip("bokeh")


def test_diagnoses_and_remedies_stand_on_the_page_once() -> None:
    from hexsim.reports.pages.command_pages import validation_page

    page = data_of(validation_page(study(), "hexsim validate"))
    assert "of the noise that layers add: c2" in page["lead"][0]
    rows = [tuple(row) for row in figure(page, "Diagnoses")["table"]["rows"]]
    assert len(set(rows)) == len(rows)
    expected = [
        (diagnosis.layer, finding.cause.remedy, finding.remedied_db)
        for diagnosis in study().diagnoses or ()
        for finding in diagnosis.findings
    ]
    assert [(row[0], row[5], row[6]) for row in rows if row[5]] == expected
    remedies = study().remedies or ()
    best = max(trial.after_db for trial in remedies)
    gains = [row[2] for row in figure(page, "Remedies")["table"]["rows"]]
    assert gains[0] == pytest.approx(best - remedies[0].before_db)
    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0
    assert f"to {best:.1f} dB" in page["lead"][1]


def test_amounts_are_darkest_where_they_are_largest() -> None:
    from hexsim.reports.pages.figures.graph import amounts_paint

    paint = amounts_paint(["a", "b", "none"], {"a": 1.0, "b": 4.0}, "#000000", "{:.0f} us".format)
    lightness = [int(fill[1:3], 16) for fill in paint.fills]
    assert lightness[1] < lightness[0]
    assert paint.notes == ("1 us", "4 us", "")
    assert [text for _, text in paint.legend] == ["0 us", "2 us", "4 us"]
    assert paint.legend[-1][0] == paint.fills[1]
