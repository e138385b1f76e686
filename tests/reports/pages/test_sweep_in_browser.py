"""The page of a sweep: its figures are the table's numbers, drawn in a browser, names as text."""

from typing import TYPE_CHECKING

import pytest

from tests.reports.pages.conftest import Open, data_of
from tests.reports.pages.networks import HOSTILE

pytest.importorskip("pyarrow")

import pyarrow

from hexsim.reports.pages.sweep_page import sweep_page
from hexsim.studies.sweep.analysis import analysed
from hexsim.studies.sweep.space import Space
from hexsim.studies.sweep.table import PARAMETERS, Swept
from hexsim.texts.tables import read

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FIGURES = ("latency_ms", "area_mm2")


def page() -> str:
    contexts, areas = [1.0, 2.0, 4.0, 4.0], [1.0, 2.0, 3.0, 4.0]
    columns = {name: ["same"] * 4 for name in PARAMETERS}
    table = pyarrow.table(
        {
            **columns,
            "point": [0, 1, 2, 3],
            "network": [HOSTILE, HOSTILE, "small", HOSTILE],
            "dsp.hvx.contexts": contexts,
            "latency_ms": [4.0, 2.0, 1.0, None],
            "area_mm2": areas,
            "refusal": [None] * 4,
            "outside_bounds": [""] * 4,
        }
    )
    varied = {"dsp.hvx.contexts": {"values": [1, 2, 4]}}
    space = read(Space, {"networks": [HOSTILE, "small"], "constants": varied}, "a space")
    swept = Swept(table, space, "0.1.0")
    return sweep_page(analysed(swept, FIGURES), f"show '{HOSTILE}'")


def test_figures_have_the_points_that_were_not_refused() -> None:
    points, lines, matters, _ = data_of(page())["figures"]
    assert [row[0] for row in points["table"]["rows"]] == [1, 0, 2]
    assert "3 of 3 points are drawn" in points["text"]
    assert lines["table"]["rows"] == [
        ["network", *sorted((HOSTILE, "small"))],
        ["dsp.hvx.contexts", "1", "4"],
        ["latency_ms", "1", "4"],
        ["area_mm2", "1", "4"],
    ]
    assert matters["table"]["rows"][0][0] == "dsp.hvx.contexts"
    assert "<script>alert" not in page()


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1600])
def test_it_is_drawn_and_complains_of_nothing(opened: Open, width: int) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    browser: Chrome = opened(page(), width)
    WebDriverWait(browser, 60).until(
        lambda driver: driver.execute_script(
            "scrollTo(0, document.body.scrollHeight); return charts.length === 4"
        )
    )
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    drawn = browser.execute_script(
        "const dots = charts.map((one) => one.marks.filter((mark) => mark.kind === 'points'))"
        ".find((marks) => marks.length === 2); return dots[1].y"
    )
    assert drawn == [2.0, 1.0, 3.0]
