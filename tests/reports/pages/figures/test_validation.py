"""The page of a validation begins with its answer and has what the terminal prints."""

import pytest
from msgspec.structs import replace

from tests.accuracy import culprits
from tests.reports.pages.conftest import data_of
from tests.reports.pages.figures_of_page import figure
from tests.reports.studies import study


def test_diagnoses_and_remedies_stand_on_the_page_once() -> None:
    from hexsim.reports.pages.command_pages import validation_page

    network = culprits.network("outlier")
    page = data_of(validation_page(study(), "hexsim validate"))
    assert "of the noise that layers add: c2" in page["lead"][0]
    rows = [tuple(row) for row in figure(page, "Diagnoses")["table"]["rows"]]
    assert len(set(rows)) == len(rows)
    expected = [
        (diagnosis.layer, finding.remedy, finding.remedied_db)
        for diagnosis in study().diagnoses or ()
        for finding in diagnosis.findings
    ]
    assert [(row[0], row[5], row[6]) for row in rows if row[5]] == expected
    remedies = study().remedies or ()
    best = max(trial.after_db or 0.0 for trial in remedies)
    gains = [row[2] for row in figure(page, "Remedies")["table"]["rows"]]
    assert gains[0] == pytest.approx(best - remedies[0].before_db)
    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0
    assert f"to {best:.1f} dB" in page["lead"][1]
    ranked = study().sensitivity
    assert ranked is not None
    assert [tuple(row) for row in figure(page, "Sensitivity")["table"]["rows"]] == [
        (row.layer, row.type, row.only_db, row.others_db) for row in ranked.layers
    ]
    painted = figure(page, "Network")["paints"]["error"]
    worst = dict(zip((layer.name for layer in network.layers), painted["notes"], strict=True))
    for row in study().layers:
        assert row.layer not in worst or worst[row.layer] == f"{row.sqnr_db:.1f} dB"


def test_amounts_are_darkest_where_they_are_largest() -> None:
    from hexsim.reports.pages.figures.network import amounts_paint

    paint = amounts_paint(["a", "b", "none"], {"a": 1.0, "b": 4.0}, "#000000", "{:.0f} us".format)
    lightness = [int(fill[1:3], 16) for fill in paint.fills]
    assert lightness[1] < lightness[0]
    assert paint.notes == ("1 us", "4 us", "")
    assert [text for _, text in paint.legend] == ["0 us", "2 us", "4 us"]
    assert paint.legend[-1][0] == paint.fills[1]


def test_errors_are_darkest_where_they_are_worst() -> None:
    """The worst tensor of a layer counts; beyond both ends of the scale nothing changes."""
    from hexsim.reports.pages.figures.network import result_paints

    some = study().layers[0]
    dbs = (("good", 40.0), ("bad", 5.0), ("bad", 30.0), ("noise", -9.0), ("zero", 0.0))
    errors = [replace(some, layer=layer, sqnr_db=db) for layer, db in dbs]
    errors.append(replace(some, layer="exact", sqnr_db=None))
    names = ["exact", "good", "bad", "noise", "zero", "none"]
    paint = result_paints(names, None, errors)["error"]
    assert paint.notes == ("no error", "40.0 dB", "5.00 dB", "-9.00 dB", "0 dB", "")
    lightness = [sum(int(fill[at : at + 2], 16) for at in (1, 3, 5)) for fill in paint.fills]
    assert lightness[0] > lightness[1] > lightness[2] > lightness[3] == lightness[4]
    assert [fill for fill, _ in paint.legend][::2] == [paint.fills[0], paint.fills[3]]
