"""What a notebook shows of results: a row per tensor, subnet, figure or choice."""

from dataclasses import replace

import pytest

from hexsim.display import Cell, Shown
from hexsim.studies.comparison import CaseChange, Comparison, FigureChange
from hexsim.studies.decision import Decision, Limits, RuledOut
from hexsim.texts.figures import figure
from tests.studies.decision.decided import candidate

CHANGE = CaseChange(
    "<b>conv",
    "dsp",
    (),
    (FigureChange("energy", "mJ", 0.5, 1.0), FigureChange("total", "us", 2.0, 3.0)),
    (),
)
NEITHER = replace(CHANGE, figures=(FigureChange("SQNR", "dB", None, None),))
COMPARISON = Comparison(("0.1.0", "0.1.0"), (CHANGE, NEITHER), (), ("m on cpu",))
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
            COMPARISON,
            "<Comparison: 2 in both, 0 gone, 1 new>",
            [
                ("<b>conv", "dsp", "energy", "mJ", 0.5, 1.0, 2.0),
                ("<b>conv", "dsp", "total", "us", 2.0, 3.0, 1.5),
            ],
        ),
        (
            DECISION,
            "<Decision: m: 1 within the limits, 1 ruled out>",
            [("default", "<b>conv", "dsp", "", 1.5, 1.0, 1.5, 0.0, 28.0)],
        ),
    ],
    ids=["comparison", "decision"],
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
