"""The page on a network in a real browser: it finds, shows, walks, and takes names as text."""

from typing import TYPE_CHECKING

import pytest

from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.reports.pages.network_page import Simulated, network_page
from hexsim.texts.figures import figure
from tests.reports.pages.conftest import Open
from tests.reports.pages.networks import HOSTILE, chain, in_floats, with_codes

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.browser

ENTER, DOWN = "\ue007", "\ue015"
FLOAT = network_page("float.onnx", in_floats(chain(6)))
CHANNELS = network_page("q.dlc", with_codes(chain(6), per_channel=True))


def texts(browser: "Chrome", selector: str) -> list[str]:
    return [find_element.text for find_element in browser.find_elements("css selector", selector)]


def type_in(browser: "Chrome", text: str) -> None:
    browser.find_element("id", "search").send_keys(text)


def shown(browser: "Chrome") -> list[str]:
    return texts(browser, "#list li:not([hidden]) b")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 700, 1100, 1600])
def test_it_fits_and_says_nothing_on_the_console(opened: Open, width: int, scheme: str) -> None:
    browser = opened(CHANNELS, width, scheme)
    type_in(browser, "conv3" + ENTER)
    assert texts(browser, "#details h2") == ["conv3"]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    paper, ink = browser.execute_script(
        "const style = getComputedStyle(document.body);"
        "return [style.backgroundColor, style.color].map((one) =>"
        "  one.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3)"
    )
    assert (paper - ink) * (1 if scheme == "light" else -1) > 150


def test_colours_show_what_is_chosen(opened: Open) -> None:
    """Times and engine of a simulation, multiply-adds, and the types again."""
    from selenium.webdriver.support.ui import Select

    container = in_floats(chain(6))
    platform = Platform.load("sd855")
    result = Deployment(container.model, platform, "cpu").simulate()
    browser = opened(network_page("float.onnx", container, Simulated("sd855 cpu", result)))
    choice = Select(browser.find_element("id", "paint"))
    second = "#drawing .box text:nth-of-type(2)"
    assert choice.first_selected_option.text == "time on sd855 cpu"
    assert texts(browser, "#summary dt")[0] == "Inference on sd855 cpu"
    assert texts(browser, "#summary dd")[0] == f"{figure(result.total_us / 1e3)} ms"
    browser.find_element("css selector", "header summary").click()
    answer = browser.find_element("id", "answer").text
    assert answer.startswith("These five layers take")
    browser.find_element("css selector", "header summary").click()
    us = {layer.name: f"{layer.us:.1f} us" for layer in result.layers}
    names = texts(browser, "#drawing .box text:nth-of-type(1)")
    assert texts(browser, second) == [us.get(name, "") for name in names]
    assert len(texts(browser, "#shades > span")) == 3
    choice.select_by_visible_text("engine on sd855 cpu")
    assert texts(browser, "#shades > span") == ["CPU"]
    choice.select_by_visible_text("type")
    types = [layer.type for layer in container.model.network.layers]
    assert texts(browser, second) == [""] * len(names)
    shown_types = texts(browser, "#drawing .box text:nth-of-type(3)")
    assert shown_types == ["data"] * (len(names) - len(types)) + types
    assert texts(browser, "#shades > span") == []


def test_summary_and_drawing(opened: Open) -> None:
    browser = opened(FLOAT)
    summary = dict(zip(texts(browser, "#summary dt"), texts(browser, "#summary dd"), strict=True))
    assert summary["Layers"] == "7"
    assert summary["Parameters"] == "96"
    assert summary["MACs per inference"] == "384"
    assert summary["Values"] == "float"
    browser.find_element("css selector", "header summary").click()
    assert (
        "MACs per inference"
        in browser.find_element("id", "answer").find_element("xpath", "..").text
    )
    browser.find_element("css selector", "header summary").click()
    boxes = browser.find_elements("css selector", "#drawing .box")
    assert len(boxes) == 8
    assert all(box.is_displayed() for box in boxes)
    assert len(browser.find_elements("css selector", "#drawing .edge")) == 8


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("CONV2", ["conv2", "conv3"]),  # the latter reads conv2.out
        ("conv2.out", ["conv2", "conv3"]),
        ("type:data", ["in"]),
        ("elementwise", ["sum"]),
        ("nothing of that kind", []),
    ],
)
def test_search(opened: Open, wanted: str, names: list[str]) -> None:
    browser = opened(FLOAT)
    type_in(browser, wanted)
    assert shown(browser) == names
    assert len(browser.find_elements("css selector", "#drawing .hit")) == len(names)
    assert texts(browser, "#found") == [f"{len(names)} of 8"]


def test_the_legend_filters_by_type(opened: Open) -> None:
    browser = opened(FLOAT)
    browser.find_element("css selector", "#legend button").click()
    assert shown(browser) == [f"conv{n}" for n in range(6)]


def test_a_click_on_a_box_shows_the_layer(opened: Open) -> None:
    browser = opened(CHANNELS)
    browser.find_element("css selector", '#drawing [data-box="2"]').click()
    details = browser.find_element("id", "details").text
    for part in ("conv1", "kernel 1x1", "conv0.out 1x2x2x4", "conv2 convolutional", "sFxp_8"):
        assert part in details
    assert len(browser.find_elements("css selector", ".histogram .bar")) == 64
    assert len(browser.find_elements("css selector", ".histogram line.limit")) == 2
    browser.find_element("css selector", ".constant details summary").click()
    assert len(browser.find_elements("css selector", ".channels tbody tr")) == 4


def test_links_lead_from_layer_to_layer(opened: Open) -> None:
    browser = opened(FLOAT)
    type_in(browser, "conv1" + ENTER)
    browser.find_element("css selector", "#details .jump").click()
    assert texts(browser, "#details h2") == ["conv0"]
    assert (
        texts(browser, "#list li:not([hidden]) [aria-current] b") == []
    )  # conv0 is not among what was found
    type_in(browser, "\ue00c")
    assert texts(browser, "#list [aria-current] b") == ["conv0"]


def test_keys_are_enough(opened: Open) -> None:
    browser = opened(FLOAT)
    type_in(browser, DOWN)
    browser.switch_to.active_element.send_keys(DOWN)
    browser.switch_to.active_element.send_keys(ENTER)
    assert texts(browser, "#details h2") == ["conv0"]
    drawing = browser.find_element("id", "drawing")
    drawing.send_keys(DOWN + DOWN + ENTER)
    assert texts(browser, "#details h2") == ["conv2"]


def test_zoom(opened: Open) -> None:
    browser = opened(FLOAT)
    width = "return document.querySelector('#drawing svg').getBoundingClientRect().width"
    before = browser.execute_script(width)
    browser.find_element("css selector", '[data-zoom="in"]').click()
    assert browser.execute_script(width) > before
    browser.find_element("css selector", '[data-zoom="one"]').click()
    assert browser.execute_script(width) == before


@pytest.mark.parametrize("width", [400, 1600])
def test_hostile_names_stay_text(opened: Open, width: int) -> None:
    browser = opened(network_page(HOSTILE, in_floats(chain(3, prefix=HOSTILE))), width)
    type_in(browser, f"{HOSTILE}1" + ENTER)
    assert texts(browser, "#details h2") == [f"{HOSTILE}1"]
    assert f"{HOSTILE}net" in texts(browser, "h1")
    assert browser.find_elements("tag name", "img") == []
    assert browser.execute_script("return window.hurt === undefined")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []


def test_the_timeline_leads_to_a_layer_and_back(opened: Open) -> None:
    """The header takes at most a tenth of the height; what a layer costs stands first."""
    from selenium.webdriver.support.wait import WebDriverWait

    container = in_floats(chain(6))
    result = Deployment(container.model, Platform.load("sd855"), "cpu").simulate()
    browser = opened(network_page("float.onnx", container, Simulated("sd855 cpu", result)))
    WebDriverWait(browser, 60).until(
        lambda driver: driver.execute_script("return timeline !== null")
    )
    assert browser.execute_script("return document.querySelector('header').offsetHeight") <= 90
    browser.find_element("css selector", '#drawing [data-box="3"]').click()
    name = texts(browser, "#details h2")[0]
    assert browser.execute_script("return timeline.chosen") == name
    browser.execute_script(
        "const mark = timeline.marks[0];"
        "const place = mark.name.indexOf('conv4');"
        "const [x0, y0, x1, y1] = timeline.box(mark, place);"
        "const at = timeline.canvas.getBoundingClientRect();"
        "timeline.canvas.dispatchEvent(new MouseEvent('click', { detail: 1,"
        "  clientX: at.left + (x0 + x1) / 2, clientY: at.top + (y0 + y1) / 2 }))"
    )
    assert texts(browser, "#details h2") == ["conv4"]
    chosen = browser.find_element("css selector", "#drawing .box.chosen")
    assert chosen.get_attribute("data-layer") == "conv4"
    first, bound = browser.find_elements("css selector", "#details tr")[:2]
    us = next(layer.us for layer in result.layers if layer.name == "conv4")
    assert first.text.startswith(f"Time on CPU {us:.3g}"[:14])
    assert bound.text.startswith("Bound ")


def test_boxes_are_dark_in_the_dark(opened: Open) -> None:
    light, dark = (
        opened(FLOAT, 1600, scheme).execute_script(
            "const box = document.querySelector('#drawing .box');"
            "const lightness = (colour) => colour.match(/\\d+/g).map(Number)"
            "  .reduce((sum, part) => sum + part, 0);"
            "return ['rect', 'text'].map((tag) =>"
            "  lightness(getComputedStyle(box.querySelector(tag)).fill))"
        )
        for scheme in ("light", "dark")
    )
    assert light[0] > light[1] + 200
    assert dark[0] < dark[1] - 200
