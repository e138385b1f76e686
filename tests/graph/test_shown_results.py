"""What a notebook shows of a validation and of a cut: a row per tensor, a row per subnet."""

import pytest

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.validation import Validation
from hexsim.graph.shown import Cell, Shown
from hexsim.studies.cuts.survey import Survey, TimedSubnet

ERROR = LayerError(
    "<b>conv", "Convolution", "y", "dsp", 30.5, 0.999, 0.25, 0.01, -1.0, 1.0, None, 0.0, ()
)
VALIDATION = Validation(Hits(4, 3), False, 28.25, (ERROR,))
SUBNETS = (
    TimedSubnet("aip", "hta", "1-2", ("conv", "<b>relu"), 1000, 30.0),
    TimedSubnet("aip", "hvx", "3", ("last",), 10, 5.5),
)
SURVEY = Survey(SUBNETS, (), 2 / 3, 0.99, 41.0, 50.0, ())

every = pytest.mark.parametrize(
    ("shown", "line", "rows"),
    [
        (
            VALIDATION,
            "<Validation: SQNR of the outputs 28.2 dB, 4 inputs>",
            [("<b>conv", "Convolution", "y", 30.5, 0.999, 0.25)],
        ),
        (
            SURVEY,
            "<Survey: 2 subnets, 41 us, without HTA 50 us>",
            [("1-2", "aip", "hta", 2, 1000, 30.0), ("3", "aip", "hvx", 1, 10, 5.5)],
        ),
    ],
    ids=["validation", "survey"],
)


@every
def test_a_line_and_a_table(shown: Shown, line: str, rows: list[tuple[Cell, ...]]) -> None:
    sheet = shown.sheet()
    assert list(sheet.rows) == rows
    assert {len(row) for row in rows} == {len(sheet.columns)}
    assert repr(shown) == line
    markup = shown._repr_html_()
    assert "<b>conv" not in markup
    assert f"{rows[0][-1]:.5g}" in markup
    assert markup.count("<rect") == (len(rows) if sheet.bars else 0)


@every
def test_a_frame_of_pandas(shown: Shown, line: str, rows: list[tuple[Cell, ...]]) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is an extra: hexsim[notebook]")
    frame = shown.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert tuple(frame.columns) == shown.sheet().columns
    assert list(frame.itertuples(index=False, name=None)) == rows
