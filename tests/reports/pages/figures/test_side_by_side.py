"""Layers before and after a change: those that changed most come first."""

from hexsim.reports.pages.figures.chart import MOST
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
