"""A page of figures in a real browser: charts are drawn, zoom, find layers, and names stay text."""

import math
from typing import TYPE_CHECKING

import pytest

from tests.reports.pages.conftest import Open
from tests.reports.pages.networks import HOSTILE, chain, simulated

pytest.importorskip("bokeh")

from hexsim.reports.pages.figures.chart import Figure, FigureTable, chart, name_columns, source
from hexsim.reports.pages.figures.timeline import timelines
from hexsim.reports.pages.page import Heading, report
from hexsim.texts.figures import figure

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.browser

NAMES = ["conv1", HOSTILE, "@name{safe}", "conv2"]
TIMES = [3.0, 1.5, 0.25, 2.0]


def made(names: list[str]) -> str:
    bars = chart("layers", "us", tooltip=(("", "@name"), ("us", "@us")))
    rows = {"name": names, "x": list(range(len(names))), "us": TIMES}
    bars.vbar(x="x", top="us", width=0.9, fill_alpha="alpha", line_color=None, source=source(rows))
    path = f"/{'far/away/' * 12}model.onnx"
    table = FigureTable(("layer", "us"), list(zip(names, TIMES, strict=True)))
    figure = Figure(f"Times {HOSTILE}", HOSTILE + path, table, bars, (("#123456", HOSTILE),))
    heading = Heading(
        HOSTILE,
        f"a phone; float reference: '{path}'",
        f"hexsim overview '{HOSTILE}'",
        (("Total", "6.75 us"),),
        ("Take one.", f"See '{path}'."),
    )
    return report(heading, [figure, Figure("Alone", "a table", table)], names)


@pytest.fixture(scope="module")
def page() -> str:
    return made(NAMES)


def drawn(browser: "Chrome") -> "Chrome":
    """Wait until the chart is drawn."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 60).until(
        lambda driver: driver.execute_script("return charts.length === 1")
    )
    return browser


def read(browser: "Chrome", column: str) -> list[object]:
    values: list[object] = browser.execute_script(
        f"return Array.from(charts[0].sources[0].data['{column}'])"
    )
    return values


def ends(browser: "Chrome") -> tuple[float, float]:
    low, high = browser.execute_script(
        "const range = charts[0].plot.x_range; return [range.start, range.end]"
    )
    return low, high


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_it_fits_is_painted_and_complains_of_nothing(
    opened: Open, width: int, scheme: str, page: str
) -> None:
    browser = drawn(opened(page, width, scheme))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    ink, label = browser.execute_script(
        "const axis = charts[0].parts.find((one) => one.type === 'LinearAxis');"
        "return [getComputedStyle(document.body).color, axis.major_label_text_color]"
    )
    assert ink == label
    inner = browser.execute_script("return charts[0].view.el.getBoundingClientRect().width")
    assert 0.75 * width < inner <= width


def test_what_is_drawn_is_what_was_given(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    assert read(browser, "us") == TIMES
    assert read(browser, "name") == NAMES
    browser.execute_script(
        "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    browser.find_element("css selector", "#figure-0 tbody tr")
    cells = browser.execute_script(
        "return [...document.querySelectorAll('#figure-0 tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    assert cells == list(map(list, zip(NAMES, ["3", "1.50", "0.250", "2"], strict=True)))


def test_names_stay_text(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    assert browser.find_element("tag name", "h1").text == HOSTILE
    assert browser.find_elements("tag name", "img") == []
    assert browser.execute_script("return window.hurt === undefined")


def test_buttons_and_keys_zoom(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    low, high = ends(browser)
    browser.find_element("css selector", '[data-key="+"]').click()
    assert math.isclose(ends(browser)[1] - ends(browser)[0], (high - low) / 1.5)
    place = browser.find_element("css selector", ".chart")
    place.send_keys("\ue014")
    assert ends(browser)[0] > low
    place.send_keys("0")
    assert ends(browser) == pytest.approx((low, high))
    place.send_keys("-")
    assert ends(browser)[0] < low


def test_tab_goes_from_a_figure_to_its_table(opened: Open, page: str) -> None:
    """Nothing between them takes keys, has no name and shows no frame."""
    browser = drawn(opened(page))
    browser.find_element("css selector", ".chart").send_keys("\ue004")
    assert browser.switch_to.active_element.tag_name == "summary"


def test_the_search_fades_other_layers_and_keeps_their_rows_out(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    browser.find_element("id", "search").send_keys("CONV")
    assert browser.find_element("id", "found").text == "2 of 4"
    alpha = read(browser, "alpha")
    assert alpha[0] == alpha[3] == 1
    assert alpha[1] == alpha[2] != 1
    rows = browser.find_elements("css selector", "#figure-1 tbody tr:not([hidden])")
    assert [row.text.split()[0] for row in rows] == ["conv1", "conv2"]


def test_a_table_sorts_and_finds(opened: Open, page: str) -> None:
    browser = opened(page)
    browser.find_elements("css selector", "#figure-1 th button")[1].click()
    cells = browser.find_elements("css selector", "#figure-1 tbody td.number")
    assert [cell.text for cell in cells] == ["3", "2", "1.50", "0.250"]
    browser.find_element("css selector", "#figure-1 details input").send_keys("0.250")
    rows = browser.find_elements("css selector", "#figure-1 tbody tr:not([hidden])")
    assert [row.text for row in rows] == ["@name{safe} 0.250"]


@pytest.mark.parametrize(
    ("low", "high", "pixels", "ticks"),
    [
        (0.09, 1.1, 300, [0.1, 0.2, 0.5, 1]),
        (0.5, 20000, 300, [1, 10, 100, 1000, 10000]),
        (0.09, 1.1, 150, [0.1, 0.3, 1]),
        (41.0, 47.0, 200, [42, 44, 46]),
    ],
)
def test_powers_are_marked_as_far_as_there_is_room(
    opened: Open,
    low: float,
    high: float,
    pixels: int,
    ticks: list[float],
    page: str,
) -> None:
    browser = opened(page)
    marks = browser.execute_script(f"return log_ticks({low}, {high}, {pixels}, 44)")
    assert marks == ticks


def test_an_axis_of_powers_has_those_marks(opened: Open) -> None:
    bars = chart("ms", "dB", x_axis_type="log")
    bars.scatter("x", "y", source=source({"x": [0.1, 1.0, 9.0], "y": [1.0, 2.0, 3.0]}))
    figure = Figure("Powers", "of ten", FigureTable(("x",), [(1,)]), bars)
    browser = drawn(opened(report(Heading("t", "s", "c", ()), [figure]), 700))
    ticks = browser.execute_script("return charts[0].plot.below[0].ticker.ticks")
    assert {0.1, 0.2, 0.5, 1, 2, 5} <= set(ticks)


def test_two_chips_share_an_axis_of_time(opened: Open) -> None:
    """Each has a row with its name, its spans in it and its sum; long times stay plain numbers."""
    results = {f"{chip} cpu": simulated(chain(6), chip) for chip in ("sd835", "sd865")}
    page = report(Heading("t", "s", "c", ()), [timelines(results)])
    browser = drawn(opened(page, 400, "dark"))
    names, end, spans, axis = browser.execute_script(
        "const { plot, sources } = charts[0];"
        "const { row, name } = sources.find((one) => one.name === 'spans').data;"
        "const { formatter, ticker } = plot.below[0];"
        "return [plot.left[0].tags[0].names, plot.x_range.end,"
        "  Array.from(row, (of, at) => [of, name[at]]),"
        "  [formatter.use_scientific, ticker.desired_num_ticks <= 3]]"
    )
    assert names == list(results)
    totals = [result.total_us for result in results.values()]
    assert end == pytest.approx(max(totals))
    assert totals[0] != totals[1]
    for row, result in enumerate(results.values()):
        layers = [layer.name for layer in result.layers]
        assert [name for at, name in spans if at == row and name in layers] == layers
    assert axis == [False, True]
    sums = browser.execute_script(
        "return [...document.querySelector('.sums tbody').rows].map((row) =>"
        "  [row.cells[0].textContent, row.cells[1].textContent])"
    )
    assert sums == [[name, figure(us)] for name, us in zip(names, totals, strict=True)]


def test_an_interval_is_not_broken_and_an_empty_table_not_shown(opened: Open) -> None:
    empty = Figure("Changes", "None would help.", FigureTable(("change",), []))
    summary = (("Total inference", "3.08 ms (2.71 to 3.79)"), ("Layers", "two"))
    browser = opened(report(Heading("t", "s", "c", summary), [empty]), 400)
    first, second = browser.find_elements("css selector", "#summary dd")
    assert (first.text.split(), second.text) == (["3.08", "ms", "(2.71", "to", "3.79)"], "two")
    assert first.find_element("tag name", "small").text.strip() == "(2.71 to 3.79)"
    assert browser.find_elements("tag name", "details") == []


def test_names_below_columns_stay_names_in_a_narrower_window(opened: Open) -> None:
    """What is drawn is what is drawn once more: names are not those of the wider window."""
    names = [f"features.{number}.conv" for number in range(65)]
    columns = chart("", "dB")
    values = {"name": names, "x": list(range(65)), "db": [float(n) for n in range(65)]}
    columns.scatter("x", "db", source=source(values))
    name_columns(columns, names)
    table = FigureTable(("layer",), [(name,) for name in names])
    page = report(Heading("t", "s", "c", ()), [Figure("Errors", "by layer", table, columns)])
    browser = drawn(opened(page, 1600))
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait = "const done = arguments[0]; setTimeout(done, 500)"
    browser.execute_async_script(wait)
    ticks = browser.execute_script("return charts[0].plot.below[0].ticker.ticks")
    assert 2 < len(ticks) < 65
    shown = browser.get_screenshot_as_png()
    browser.execute_script("charts[0].plot.below[0].change.emit()")
    browser.execute_async_script(wait)
    assert shown == browser.get_screenshot_as_png(), "names were drawn that are no longer right"


def test_the_search_is_there_only_where_there_are_layers(opened: Open, page: str) -> None:
    assert opened(page).find_element("id", "finder").is_displayed()
    figure = Figure("Alone", "a table", FigureTable(("us",), [(1,)]))
    browser = opened(report(Heading("t", "s", "c", ()), [figure]))
    assert not browser.find_element("id", "finder").is_displayed()
