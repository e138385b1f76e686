"""The page of a decision draws what its JSON says, and names are text."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from hexsim.reports.pages.decision_page import decision_page
from hexsim.results.decision import TriedChange
from tests.reports.pages.conftest import data_of
from tests.reports.pages.figures_of_page import columns, figure
from tests.reports.pages.networks import chain, simulated
from tests.reports.test_decision import REFUSED, decision, out
from tests.studies.decision.decided import candidate

FOUND = (
    candidate(),
    candidate(1500.0, runtime="aip", sqnr_db=35.0),
    candidate(700.0, runtime="cpu", sqnr_db=None),
)
OUT = (out("float", "sd855", "<b>cpu", "12 ms, over max_ms 5", limit=True),)


def test_marks_and_rows_are_those_of_the_json_file() -> None:
    decided = replace(decision(*FOUND, out=OUT), commands=("hexsim profile --chip sd835 q.dlc",))
    facts = json.loads(decided.to_json())
    markup = decision_page(decided, "hexsim decide m.onnx")
    assert "<b>cpu" not in markup
    page = data_of(markup)
    choices = figure(page, "Choices")
    marks = [column for column in columns(choices) if column["kind"] == "points"]
    drawn = sorted(
        (ms, said) for mark in marks for ms, said in zip(mark["x"], mark["sqnr"], strict=True)
    )
    said = [
        "exactly as float" if fact["sqnr_db"] is None else f"{fact['sqnr_db']:.1f} dB"
        for fact in facts["choices"]
    ]
    times = [fact["total_inference_us"] / 1e3 for fact in facts["choices"]]
    assert drawn == sorted(zip(times, said, strict=True))
    rows = choices["table"]["rows"]
    assert [row[5] for row in rows] == pytest.approx(times)
    assert [row[-1] for row in rows] == [fact["in_front"] for fact in facts["choices"]]
    (ruled,) = figure(page, "Ruled out")["table"]["rows"]
    assert ruled == [1, "over max_ms 5", "12 ms", "12 ms", "float", "sd855 <b>cpu"]
    assert figure(page, "Commands")["table"]["rows"] == [["hexsim profile --chip sd835 q.dlc"]]


def test_what_answers_exactly_as_float_stands_above_all_noise() -> None:
    page = data_of(decision_page(decision(*FOUND), "hexsim decide m.onnx"))
    marks = [column for column in columns(figure(page, "Choices")) if column["kind"] == "points"]
    placed = {name: db for mark in marks for name, db in zip(mark["name"], mark["y"], strict=True)}
    exact = placed.pop("default on sd855 cpu")
    assert sorted(placed.values()) == [30.0, 35.0], "noise stands where it is"
    assert exact > 35.0


def test_a_runtime_has_a_shape_and_a_line() -> None:
    page = data_of(decision_page(decision(*FOUND, out=OUT), "hexsim decide m.onnx"))
    shapes = {mark[1]: mark[2] for mark in figure(page, "Choices")["legend"] if len(mark) == 3}
    assert set(shapes) == {"cpu", "dsp", "aip"}
    assert len(set(shapes.values())) == 3
    lines = figure(page, "Best of each runtime")["table"]["rows"]
    assert [(line[0], *line[-2:]) for line in lines] == [
        ("cpu", 1, 0),
        ("dsp", 1, 0),
        ("aip", 1, 0),
        ("<b>cpu", 0, 1),
    ]
    assert lines[0][4] == pytest.approx(0.7)


def test_the_answer_stands_first() -> None:
    tried = TriedChange(
        name="activations as Relu",
        layers=("a",),
        before_us=2000.0,
        after_us=1500.0,
        same_answers=False,
        gain=0.25,
    )
    decided = replace(decision(*FOUND), changes=(tried,))
    page = data_of(decision_page(decided, "hexsim decide m.onnx"))
    (change,) = figure(page, "Changes of the network that would help")["table"]["rows"]
    retrain = ("", "change: retrain", "")  # no draws, no remark
    assert change == ["activations as Relu", "1", "a", "2.00", "1.50", "25.0%", *retrain]
    assert page["lead"][0] == "Take default on sd855 cpu."
    assert page["lead"][1].startswith("Ranked by latency")
    assert ["Total inference", "0.700 ms"] in page["summary"]


def test_the_best_choices_share_an_axis_of_time() -> None:
    timings = {f"{chip} cpu": simulated(chain(3), chip) for chip in ("sd865", "sd835")}
    decided = replace(decision(*FOUND), timelines=lambda: timings)
    page = data_of(decision_page(decided, "hexsim decide m.onnx"))
    below = figure(page, "Inferences below each other")
    assert below["table"]["rows"] == [[name, timing.total_us] for name, timing in timings.items()]
    assert "Not drawn: 1 more run." in below["text"], "there are three choices"


def test_nothing_within_the_limits_is_a_page_too() -> None:
    page = data_of(decision_page(decision(out=OUT), "hexsim decide m.onnx"))
    assert [drawing["title"] for drawing in page["figures"]] == [
        "Best of each runtime",
        "Ruled out",
    ]
    assert page["lead"][0] == "Nothing is within the limits."


def test_files_have_a_page_with_their_reasons() -> None:
    compared = replace(decision(), files=(replace(REFUSED, refusal="<i>too early"),))
    markup = decision_page(compared, "hexsim decide m.onnx --files")
    assert "<i>too" not in markup
    (row,) = figure(data_of(markup), "Files")["table"]["rows"]
    assert row[:5] == ["float", "1.50", "aip", "refused", "<i>too early"]
