"""What a notebook shows of a cut: a row per subnet."""

from hexsim.studies.cuts.survey import Survey, TimedSubnet

SURVEY = Survey(
    (
        TimedSubnet("aip", "hta", "1-2", ("conv", "<b>relu"), 1000, 30.0),
        TimedSubnet("aip", "hvx", "3", ("last",), 10, 5.5),
    ),
    (),
    2 / 3,
    0.99,
    41.0,
    50.0,
    (),
)


def test_a_row_per_subnet() -> None:
    sheet = SURVEY.sheet()
    assert sheet.rows == (("1-2", "aip", "hta", 2, 1000, 30.0), ("3", "aip", "hvx", 1, 10, 5.5))
    assert len(sheet.columns) == len(sheet.rows[0])
    assert repr(SURVEY) == "<Survey: 2 subnets, 41 us, without HTA 50 us>"
    assert SURVEY._repr_html_().count("<rect") == 2
