from hexsim.reports.tradeoff_data import HEADER, tradeoff_csv
from hexsim.reports.tradeoff_table import tradeoff_table
from hexsim.studies.tradeoff import Choice

REFUSED = Choice("float", 3 * 2**19, "aip", "refused", refusal="it is too early")


def test_a_refusal_has_its_reason_where_the_figures_are_missing() -> None:
    for labelled, columns in ((False, 9), (True, 10)):
        text = tradeoff_table([REFUSED], labelled=labelled)
        header, rule, row = text.splitlines()
        assert len(rule.split()) == columns
        assert ("top-1" in header) is labelled
        assert row.split()[:3] == ["float", "1.50", "aip"]
        assert row.endswith("refused: it is too early")


def test_unknown_figures_are_empty_in_csv() -> None:
    header, row = tradeoff_csv([REFUSED], labelled=True).splitlines()
    assert header.split(",") == list(HEADER)
    assert row == f"float,{3 * 2**19},aip,refused,it is too early" + "," * (len(HEADER) - 5)
