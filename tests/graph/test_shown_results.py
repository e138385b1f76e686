"""What a notebook shows of results: a row per choice."""

import pytest

from hexsim.display import Cell, Shown
from hexsim.studies.decision import Decision, Limits, RuledOut
from hexsim.texts.figures import figure
from tests.studies.decision.decided import candidate

CHOICE = candidate(1500.0, chip="<b>conv", sqnr_db=28.0)
DECISION = Decision(
    *("m", 4, True, False, None, Limits(), "latency", (CHOICE,)),
    (RuledOut("axis", "sd855", "aip", "slow", limit=True),),
    *((), ()),
)

every = pytest.mark.parametrize(
    ("shown", "line", "rows"),
    [
        (
            DECISION,
            "<Decision: m: 1 within the limits, 1 ruled out>",
            [("default", "<b>conv", "dsp", "", 1.5, 1.0, 1.5, 0.0, 28.0)],
        ),
    ],
    ids=["decision"],
)


@every
def test_a_line_and_a_table(shown: Shown, line: str, rows: list[tuple[Cell, ...]]) -> None:
    table = shown.display_table()
    assert list(table.rows) == rows
    assert {len(row) for row in rows} == {len(table.columns)}
    assert repr(shown) == line
    markup = shown._repr_html_()
    assert "<b>conv" not in markup
    assert figure(float(rows[-1][-1] or 0)) in markup
    assert markup.count("<rect") == (len(rows) if table.bars else 0)


@every
def test_a_frame_of_pandas(shown: Shown, line: str, rows: list[tuple[Cell, ...]]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is an extra: hexsim[notebook]")
    frame = shown.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.columns) == shown.display_table().columns
    assert list(frame.itertuples(index=False, name=None)) == rows
