"""A page of figures in a real browser: charts are drawn, zoom, find layers, and names stay text."""

import math
import re
from typing import TYPE_CHECKING

import pytest

import hexsim
from hexsim.reports.colours import ENGINES
from hexsim.reports.pages.command_pages import partition_page
from hexsim.reports.pages.figures.chart import Chart, Figure, FigureTable, layer_bars, stacked
from hexsim.reports.pages.figures.network import graph_figure
from hexsim.reports.pages.figures.timeline import timelines
from hexsim.reports.pages.page import Heading, report
from hexsim.texts.figures import figure
from tests.reports.pages.conftest import Open
from tests.reports.pages.networks import HOSTILE, chain, simulated

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.browser

NAMES = ["conv1", HOSTILE, "@name{safe}", "conv2"]
TIMES = [3.0, 1.5, 0.25, 2.0]


def made(names: list[str]) -> str:
    bars = Chart("layers", "us", tooltip=(("", "{name}"), ("us", "{y}")))
    bars.draw("points", name=names * 10, x=list(range(40)), y=TIMES * 10, size=9, colour="")
    path = f"/{'far/away/' * 12}model.onnx"
    table = FigureTable(("layer", "us"), list(zip(names, TIMES, strict=True)))
    figure = Figure(f"Times {HOSTILE}", HOSTILE + path, table, bars, (("#123456", HOSTILE),))
    heading = Heading(
        HOSTILE,
        f"a phone; float reference: '{path}'",
        f"hexsim overview --chip sd835 '{HOSTILE}'",
        (("Total", "6.75 us"),),
        ("Take one.", f"See '{path}'."),
    )
    return report(heading, [figure, Figure("Alone", "a table", table)], names)


@pytest.fixture(scope="module")
def page() -> str:
    return made(NAMES)


def wait_for(browser: "Chrome", count: int) -> None:
    """Wait until that many charts are drawn."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 60).until(
        lambda driver: driver.execute_script("return charts.length") == count
    )


def drawn(browser: "Chrome") -> "Chrome":
    """Wait until the chart is drawn."""
    wait_for(browser, 1)
    return browser


def read(browser: "Chrome", column: str) -> list[object]:
    values: list[object] = browser.execute_script(f"return charts[0].marks[0]['{column}']")
    return values


def ends(browser: "Chrome") -> tuple[float, float]:
    low, high = browser.execute_script("return charts[0].x")
    return low, high


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_it_fits_is_painted_and_complains_of_nothing(
    opened: Open, width: int, scheme: str, page: str
) -> None:
    browser = drawn(opened(page, width, scheme))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    ink, drawn_in = browser.execute_script(
        "return [getComputedStyle(document.body).color, charts[0].ink]"
    )
    assert ink == drawn_in
    inner = browser.execute_script("return charts[0].canvas.getBoundingClientRect().width")
    assert 0.75 * width < inner <= width


def test_what_is_drawn_is_what_was_given(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    assert read(browser, "y") == TIMES * 10
    assert read(browser, "name") == NAMES * 10
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
    place.send_keys("0w")
    assert math.isclose(ends(browser)[1] - ends(browser)[0], (high - low) / 1.5)
    place.send_keys("d")
    assert ends(browser)[0] > low
    place.send_keys("aas")
    assert math.isclose(ends(browser)[1] - ends(browser)[0], high - low)


def test_tab_goes_from_a_figure_to_its_table(opened: Open, page: str) -> None:
    """Nothing between them takes keys, has no name and shows no frame."""
    browser = drawn(opened(page))
    browser.find_element("css selector", ".chart").send_keys("\ue004")
    assert browser.switch_to.active_element.tag_name == "summary"


def test_the_search_fades_other_layers_and_keeps_their_rows_out(opened: Open, page: str) -> None:
    browser = drawn(opened(page))
    browser.find_element("id", "search").send_keys("CONV")
    assert browser.find_element("id", "found").text == "2 of 4"
    alpha = browser.execute_script(
        "return [0, 1, 2, 3].map((place) => charts[0].alpha(charts[0].marks[0], place))"
    )
    assert alpha[0] == alpha[3] == 1
    assert alpha[1] == alpha[2] != 1
    rows = browser.find_elements("css selector", "#figure-1 tbody tr:not([hidden])")
    assert [row.text.split()[0] for row in rows] == ["conv1", "conv2"]


def test_a_table_sorts_and_finds(opened: Open, page: str) -> None:
    """Only a table whose rows are not seen at once has a search of its own."""
    browser = opened(page)
    assert browser.find_elements("css selector", "#figure-1 details input") == []
    table = FigureTable(("layer", "us"), list(zip(NAMES, TIMES, strict=True)) * 4)
    many = [Figure("Charted", "", table), Figure("Alone", "a table", table)]
    browser = opened(report(Heading("t", "s", "c", ()), many, NAMES))
    browser.find_elements("css selector", "#figure-1 th button")[1].click()
    cells = browser.find_elements("css selector", "#figure-1 tbody td.number")
    assert [cell.text for cell in cells[::4]] == ["3", "2", "1.50", "0.250"]
    browser.find_element("css selector", "#figure-1 details input").send_keys("0.250")
    rows = browser.find_elements("css selector", "#figure-1 tbody tr:not([hidden])")
    assert [row.text for row in rows] == ["@name{safe} 0.250"] * 4


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
    bars = Chart("ms", "dB", log=(True, False))
    bars.draw("points", x=[0.1, 1.0, 9.0], y=[1.0, 2.0, 3.0])
    figure = Figure("Powers", "of ten", FigureTable(("x",), [(1,)]), bars)
    browser = drawn(opened(report(Heading("t", "s", "c", ()), [figure]), 700))
    ticks = browser.execute_script("return charts[0].x_ticks")
    assert {0.1, 0.2, 0.5, 1, 2, 5} <= set(ticks)


def test_numbers_beside_an_axis_have_room(opened: Open) -> None:
    """Also those of a figure that is the same at all points."""
    dots = Chart("ms", "bytes")
    dots.draw("points", x=[1.0, 2.0, 3.0], y=[4821216.0] * 3)
    figure = Figure("Same", "everywhere", FigureTable(("x",), [(1,)]), dots)
    browser = drawn(opened(report(Heading("t", "s", "c", ()), [figure]), 400))
    texts, room = browser.execute_script(
        "const [chart] = charts; const texts = tick_texts(chart.y_ticks);"
        "const widths = texts.map((one) => chart.pen.measureText(one).width);"
        "return [texts, chart.frame.left - Math.max(...widths)]"
    )
    assert 1 < len(texts) == len(set(texts))
    assert all(len(text) < len("4821216") for text in texts)
    assert room > 12  # the name of the axis


@pytest.mark.parametrize("width", [400, 800, 1600])
def test_a_drawing_shows_whole_folds_from_its_first_box_on(opened: Open, width: int) -> None:
    drawing = graph_figure(chain(40), None)
    browser = opened(report(Heading("t", "s", "c", ()), [drawing]), width)
    left, right, room, letters = browser.execute_script(
        "const drawing = document.querySelector('.drawing'), all = drawing.getBoundingClientRect();"
        "const { left, right } = drawing.querySelector('.box rect').getBoundingClientRect();"
        "const text = drawing.querySelector('text').getBoundingClientRect();"
        "return [left - all.left, right - all.left, drawing.clientWidth, text.height]"
    )
    assert 0 <= left < right <= room
    assert letters > 7


def test_two_chips_share_an_axis_of_time(opened: Open) -> None:
    """Each has a row with its name, its spans in it and its sum; long times stay plain numbers."""
    results = {f"{chip} cpu": simulated(chain(6), chip) for chip in ("sd835", "sd865")}
    page = report(Heading("t", "s", "c", ()), [timelines(results)])
    browser = drawn(opened(page, 400, "dark"))
    names, end, spans, ticks = browser.execute_script(
        "const { row, name } = charts[0].marks[0];"
        "return [charts[0].spec.rows, charts[0].x[1],"
        "  row.map((of, at) => [of, name[at]]), tick_texts(charts[0].x_ticks)]"
    )
    assert names == list(results)
    totals = [result.total_us for result in results.values()]
    assert end == pytest.approx(max(totals))
    assert totals[0] != totals[1]
    for row, result in enumerate(results.values()):
        layers = [layer.name for layer in result.layers]
        assert [name for at, name in spans if at == row and name in layers] == layers
    assert 1 < len(ticks) <= 5
    assert all(tick.replace(".", "").isdigit() for tick in ticks)
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


def test_names_below_columns_have_room_in_a_narrower_window(opened: Open) -> None:
    """As many are drawn as have room, and no two are the same."""
    names = [f"model.features.{number}.block.convolution" for number in range(65)]
    columns = Chart("", "dB", columns=names)
    columns.draw("points", x=list(range(65)), y=[float(n) for n in range(65)])
    table = FigureTable(("layer",), [(name,) for name in names])
    page = report(Heading("t", "s", "c", ()), [Figure("Errors", "by layer", table, columns)])
    wide = drawn(opened(page, 1600)).execute_script("return charts[0].below_names")
    narrow = drawn(opened(page, 400)).execute_script("return charts[0].below_names")
    assert 2 < len(narrow) < len(wide) == 65
    assert len(set(narrow)) == len(narrow)
    assert len(set(wide)) == 65


def test_names_lie_where_they_have_room_and_few_columns_have_no_buttons(opened: Open) -> None:
    columns = Chart("", "dB", columns=("conv1", "memory.ddr_peak_bytes_per_s", "latency_ms"))
    columns.draw("points", x=[0, 1, 2] * 10, y=[float(n) for n in range(30)])
    page = report(Heading("t", "s", "c", ()), [Figure("Errors", "", FigureTable((), []), columns)])
    for width, level in ((400, False), (1600, True)):
        browser = drawn(opened(page, width))
        names, lie = browser.execute_script("return [charts[0].below_names, charts[0].level]")
        assert (lie, "memory.ddr_peak_bytes_per_s" in names) == (level, level)
        assert browser.find_elements("css selector", ".tools button") == []


def test_what_colours_of_a_cut_mean_stays_beside_its_drawing(opened: Open) -> None:
    """Not in it, where it would be out of view in a narrow window."""
    cut = hexsim.partition("alexnet", runtime="aip", chip="sd855")
    browser = opened(partition_page(cut, "c"), 400)
    assert browser.find_elements("css selector", ".drawing .swatch") == []
    meanings = [entry.text for entry in browser.find_elements("css selector", ".legend li")]
    assert {"HTA", "HVX"} <= set(meanings)


BLOCKS = [f"/points/blocks.{number}/conv_2d/Conv" for number in range(9)]
LONG = [f"model/{'stage/' * 5}layer{number}/kernel/read_variable" for number in range(9)]


@pytest.mark.parametrize("names", [BLOCKS, LONG, ["same"] * 3, ["one/very/long/name/of/a/layer"]])
@pytest.mark.parametrize("most", [12, 20, 30])
def test_short_names_differ_where_the_names_do(
    opened: Open, page: str, names: list[str], most: int
) -> None:
    short = opened(page).execute_script(
        "return short_names(arguments[0], arguments[1])", names, most
    )
    assert all(len(name) <= most for name in short)
    if most > 12:
        assert len(set(short)) == len(set(names))


def rows(names: list[str]) -> str:
    """A page with a bar for each name, and a table of them."""
    parts = [
        part
        for row, name in enumerate(names)
        for part in stacked(row, name, {"cpu": 2.0 + row}, ENGINES)
    ]
    bars = layer_bars("us", names, parts, ())
    table = FigureTable(("layer",), [(name,) for name in names])
    made = [Figure("Bars", "of layers", table, bars), Figure("Again", "the same", table, bars)]
    return report(Heading("t", "s", "c", ()), made, names)


def test_names_of_rows_stand_above_them_where_the_window_is_narrow(opened: Open) -> None:
    """Whole names, and no buttons for a few bars."""
    for width, above in ((400, True), (1600, False)):
        browser = opened(rows(LONG), width)
        wait_for(browser, 2)
        names, is_above = browser.execute_script("return [charts[0].names, charts[0].above]")
        assert is_above is above
        assert len(set(names)) == len(LONG)
        assert browser.find_elements("css selector", ".tools button") == []


def test_a_click_chooses_a_layer_in_all_figures(opened: Open) -> None:
    browser = opened(rows(BLOCKS))
    wait_for(browser, 2)
    x, y = browser.execute_script(
        "const [x0, y0, x1, y1] = charts[0].box(charts[0].marks[0], 3);"
        "charts[0].canvas.scrollIntoView({ block: 'center' });"
        "const at = charts[0].canvas.getBoundingClientRect();"
        "return [at.left + (x0 + x1) / 2, at.top + (y0 + y1) / 2]"
    )
    from selenium.webdriver.common.action_chains import ActionChains

    mouse = ActionChains(browser)
    mouse.w3c_actions.pointer_action.move_to_location(round(x), round(y)).click()
    mouse.perform()
    assert browser.execute_script("return charts.map((one) => one.chosen)") == [BLOCKS[3]] * 2
    bar = browser.find_element("id", "chosen")
    assert bar.find_element("tag name", "b").text == BLOCKS[3]
    assert [link.text for link in bar.find_elements("tag name", "a")] == ["Bars", "Again"]


def test_rows_with_sentences_fit_a_narrow_window(opened: Open) -> None:
    """Each cell stands below the one before it, with the name of its column."""
    rows = [("conv", 1.5, "a reason that is much longer than a narrow window has room for " * 3)]
    figure = Figure("Why", "On the CPU.", FigureTable(("layer", "us", "reason"), rows))
    page = report(Heading("t", "s", "c", ()), [figure])
    ask = (
        "return [...document.querySelectorAll('#figure-0 tbody td')].map((cell) => {"
        "  const { top, right } = cell.getBoundingClientRect();"
        "  return [top, right, cell.dataset.name]; })"
    )
    cells = opened(page, 400).execute_script(ask)
    assert [name for _, _, name in cells] == ["layer", "us", "reason"]
    assert cells[0][0] < cells[1][0] < cells[2][0]
    assert all(right <= 400 for _, right, _ in cells)
    wide = opened(page, 1600).execute_script(ask)
    assert len({top for top, _, _ in wide}) == 1


def test_a_page_is_small(opened: Open, page: str) -> None:
    """A page has at most 300 KB beside its data."""
    whole = re.search(r'(?s)<script type="application/json" id="data">.*?</script>', page)
    assert whole
    assert len(page.encode()) - len(whole[0].encode()) < 300_000


def test_the_search_is_there_only_where_there_are_layers(opened: Open, page: str) -> None:
    assert opened(page).find_element("id", "finder").is_displayed()
    figure = Figure("Alone", "a table", FigureTable(("us",), [(1,)]))
    browser = opened(report(Heading("t", "s", "c", ()), [figure]))
    assert not browser.find_element("id", "finder").is_displayed()
