"""A chart is data: what is drawn, in its order, and the same whenever it is made."""

from dataclasses import asdict

from hexsim.reports.pages.figures.chart import Chart, layer_bars, stacked


def test_a_chart_has_its_marks_in_their_order() -> None:
    made = Chart("us", "MACs", log=(True, True))
    made.draw("line", x=[1.0, 2.0], y=[3.0, 4.0])
    made.draw("points", x=[1.0], y=[3.0], name=["p1"], colour="")
    assert [mark["kind"] for mark in asdict(made)["marks"]] == ["line", "points"]
    assert made.marks[1]["name"] == ["p1"]
    assert Chart("us").marks == [], "charts share no marks"


def test_the_parts_of_a_bar_follow_each_other_from_zero() -> None:
    parts = stacked(2, "conv", {"a": 3.0, "b": 0.0, "c": 1.5}, dict.fromkeys("abc", "#123456"))
    chart = layer_bars("us", ["x", "y", "conv"], parts, ())
    (bars,) = chart.marks
    assert (bars["what"], bars["left"], bars["right"]) == (["a", "c"], [0.0, 3.0], [3.0, 4.5])
    assert set(bars["whole"]) == {4.5}
    assert all(low < -2 < high for low, high in zip(bars["bottom"], bars["top"], strict=True))
    assert chart.x == (0.0, None)
