"""What a prompt, a notebook and a data frame show of a decision."""

import pytest

from hexsim.results.decision import Choice, Decision, RuledOut
from hexsim.results.document import columns
from tests.studies.decision.decided import candidate

DECISION = Decision(
    network="m",
    inputs=4,
    choices=(candidate(1500.0, chip="<b>conv", sqnr_db=28.0),),
    ruled_out=(RuledOut(mode="axis", chip="sd855", where="aip", reason="slow", limit=True),),
)


def test_a_line_and_a_table_with_a_row_per_choice() -> None:
    assert repr(DECISION) == "<Decision: m: 1 within the limits, 1 ruled out>"
    markup = DECISION._repr_html_()
    assert "<b>conv" not in markup
    assert markup.count("<tr>") == 2
    assert "28.0" in markup


def test_a_frame_has_the_columns_of_the_csv_file() -> None:
    pytest.importorskip("pandas", reason="pandas is an extra: hexsim[notebook]")
    frame = DECISION.to_dataframe()
    assert list(frame.columns) == list(columns(Choice))
    assert frame["total_inference_us"].tolist() == [1500.0]
