"""Pages of small networks, and Chromium to open them in."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BROWSER, DRIVER = "chromium", "chromedriver"
Open = Callable[..., "Chrome"]


def data_of(page: str) -> dict[str, Any]:
    """The data in a page."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert match
    data: dict[str, Any] = json.loads(match[1], object_hook=_whole_column)
    return data


def _whole_column(read: dict[str, Any]) -> Any:
    """What the page's script makes of a column that is written short."""
    parts = [read.get("distinct"), read.get("at")]
    if not all(isinstance(part, list) for part in parts):
        return read
    distinct, at = parts
    return [distinct[place] for place in at]


def _missing() -> list[str]:
    tools = [tool for tool in (BROWSER, DRIVER) if not shutil.which(tool)]
    return tools if find_spec("selenium") else [*tools, "selenium"]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Chrome]":
    """Chromium without a window; tests are skipped where it is missing, but never in CI."""
    missing = _missing()
    if missing:
        stop = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        stop(f"{', '.join(missing)} missing; install chromium, chromium-driver and selenium")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which(BROWSER))
    profile = tmp_path_factory.mktemp("profile")
    for word in ("headless=new", "no-sandbox", "disable-dev-shm-usage", f"user-data-dir={profile}"):
        options.add_argument(f"--{word}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture
def opened(chromium: "Chrome", tmp_path: Path) -> Open:
    """A function that opens a page in a window of some width, in light or dark."""

    def open_page(page: str, width: int = 1600, scheme: str = "light") -> "Chrome":
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        feature = {"name": "prefers-color-scheme", "value": scheme}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        chromium.get_log("browser")
        chromium.get(file.as_uri())
        return chromium

    return open_page
