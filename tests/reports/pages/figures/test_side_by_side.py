"""Layers before and after a change: those that changed most come first."""

import pytest

from hexsim.reports.pages.figures.chart import MOST, Chart
from hexsim.reports.pages.figures.side_by_side import changed_layers
from hexsim.results.comparison import CaseChange, FigureChange


def test_the_layers_that_changed_most_come_first() -> None:
    times = [(f"l{n}", 10.0, 10.0 + (n * 7) % 40) for n in range(40)]
    changes = tuple(
        FigureChange(name=name, unit="us", before=before, after=after)
        for name, before, after in (*times, ("gone", 99.0, None))
    )
    drawn = changed_layers(
        CaseChange(network="n", place="dsp", conditions=(), figures=(), layers=changes)
    )
    assert drawn is not None
    assert drawn.chart is not None
    assert drawn.chart.rows[0] == "gone"
    (bars,) = drawn.chart.marks
    assert len(drawn.chart.rows) == MOST
    assert bars["when"].count("after") == MOST - 1
    assert len(drawn.table.rows) == 41


@pytest.mark.parametrize(("before", "logarithmic"), [(100.0, True), (20.0, False)])
def test_bars_that_would_be_hidden_have_an_axis_of_powers(before: float, logarithmic: bool) -> None:
    change = FigureChange(name="l", unit="us", before=before, after=5.0)
    drawn = changed_layers(
        CaseChange(network="n", place="dsp", conditions=(), figures=(), layers=(change,))
    )
    assert drawn is not None
    assert drawn.chart is not None
    assert drawn.chart.log == (logarithmic, False)
    assert drawn.chart.across == ("us, logarithmic scale" if logarithmic else "us")
    assert drawn.chart.x == ((None, None) if logarithmic else (0.0, None))


def test_bars_of_no_length_have_no_axis_of_powers() -> None:
    chart = Chart("us")
    chart.begin_bars([0.0, 0.0])
    assert chart.x == (0.0, None)
