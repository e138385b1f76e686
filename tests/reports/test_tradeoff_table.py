from hexsim.reports.fitting import page
from hexsim.reports.tradeoff import choice_facts, tradeoff_table
from hexsim.studies.tradeoff import TradeoffChoice

REFUSED = TradeoffChoice("float", 3 * 2**19, "aip", "refused", refusal="it is too early")


def test_a_refusal_has_its_reason_on_a_page_of_any_width() -> None:
    for labelled, columns in ((False, 9), (True, 10)):
        text = tradeoff_table([REFUSED], labelled=labelled)
        header, rule, row, why = text.splitlines()
        assert len(rule.split()) == columns
        assert ("top-1" in header) is labelled
        assert row.split()[:3] == ["float", "1.50", "aip"]
        assert row.endswith("refused")
        assert why == "float on aip: it is too early"
    own = tradeoff_table([REFUSED], labelled=False, reference="the file's own weights")
    assert "SQNR dB, own weights" in own
    with page(60):
        narrow = tradeoff_table([REFUSED], labelled=True)
    assert "no room for" in narrow
    assert narrow.endswith("\nfloat on aip: it is too early")


def test_unknown_figures_are_empty_in_csv() -> None:
    header, row = choice_facts.csv([REFUSED]).splitlines()
    keys = list(choice_facts.fields())
    assert header.split(",") == keys
    assert row == f"float,{3 * 2**19},aip,refused,it is too early" + "," * (len(keys) - 5)
