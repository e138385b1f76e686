"""The page of a decision draws what its JSON says, and names are text."""

from __future__ import annotations

import pytest

from hexsim.reports.decision_data import decision_facts
from hexsim.reports.pages.decision_page import decision_page
from hexsim.studies.decision import RuledOut
from tests.reports.pages.conftest import data_of
from tests.reports.pages.figures_of_page import columns, figure
from tests.reports.test_decision_table import decision
from tests.studies.decision.decided import candidate

pytest.importorskip("bokeh")

FOUND = (
    candidate(),
    candidate(1500.0, runtime="aip", sqnr_db=35.0),
    candidate(700.0, runtime="cpu", sqnr_db=None),
)
OUT = (RuledOut("float", "sd855", "<b>cpu", "12 ms, over --max-ms 5", True),)


def test_marks_and_rows_are_those_of_the_json_file() -> None:
    found = decision(*FOUND, out=OUT)
    facts = decision_facts(found, ("hexsim profile q.dlc",))
    markup = decision_page(found, ("hexsim profile q.dlc",), "hexsim decide m.onnx")
    assert "<b>cpu" not in markup
    page = data_of(markup)
    choices = figure(page, "Choices")
    marks = sorted(
        (ms, db) for one in columns(choices) for ms, db in zip(one["ms"], one["db"], strict=True)
    )
    noisy = [one for one in facts["choices"] if one["sqnr_db"] is not None]
    assert marks == sorted((one["total_inference_us"] / 1e3, one["sqnr_db"]) for one in noisy)
    rows = choices["table"]["rows"]
    assert [row[5] for row in rows] == pytest.approx(
        [one["total_inference_us"] / 1e3 for one in facts["choices"]]
    )
    assert [row[-1] for row in rows] == [one["in_front"] for one in facts["choices"]]
    (out,) = figure(page, "Ruled out")["table"]["rows"]
    assert out[2:] == ["<b>cpu", "12 ms, over --max-ms 5"]
    assert figure(page, "Commands")["table"]["rows"] == [["hexsim profile q.dlc"]]


def test_nothing_within_the_limits_is_a_page_too() -> None:
    page = data_of(decision_page(decision(out=OUT), (), "hexsim decide m.onnx"))
    assert [one["title"] for one in page["figures"]] == ["Ruled out"]
