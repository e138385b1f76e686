"""The search of the site works in a page that is opened from a disk."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.pages import ROOT
from tests.reports.pages.conftest import chromium

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

__all__ = ["chromium"]

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_word_is_found_and_leads_to_a_page(chromium: "Chrome", tmp_path: Path) -> None:
    pytest.importorskip("material")
    from selenium.webdriver.support.wait import WebDriverWait

    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    chromium.get((tmp_path / "concepts" / "report.html").as_uri())
    field = chromium.find_element("css selector", ".md-search__input")
    chromium.execute_script("arguments[0].focus()", field)
    field.send_keys("roofline")
    links = WebDriverWait(chromium, 60).until(
        lambda driver: driver.find_elements("css selector", "a.md-search-result__link")
    )
    address = str(links[0].get_attribute("href"))
    assert address.startswith(tmp_path.as_uri())
    assert (
        "roofline" in Path(address.removeprefix("file://").split("#")[0].split("?")[0]).read_text()
    )
