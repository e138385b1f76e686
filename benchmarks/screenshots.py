"""Pictures of pages for the documentation, taken in Chromium without a window.

`python -m benchmarks.screenshots --write` makes them anew in docs/images.
"""

import argparse
import io
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import sleep

from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.wait import WebDriverWait

from hexsim.cli.app import run_command

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images"
COMMAND = "overview squeezenet1_1 --chip sd855 --runtime dsp --html {page}"
SHOTS = {"report": (1200, 1500, "light"), "report-dark": (400, 1500, "dark")}
"""Name -> width and height in px, and the colours of the system."""
IN_VIEW = (
    "[...document.querySelectorAll('.chart')]"
    ".filter((one) => one.getBoundingClientRect().top < innerHeight)"
)
"""The charts of a page that a picture shows."""
MOST_BYTES = 200_000
COLOURS = 256


def page(folder: Path) -> Path:
    """Write the page that is shown."""
    path = folder / "report.html"
    words = COMMAND.format(page=path).split()
    sys.argv = ["hexsim", *COMMAND.format(page="report.html").split()]
    with suppress(SystemExit):  # typer ends what it runs
        run_command("hexsim", words)
    return path


def shots(path: Path) -> dict[str, bytes]:
    """Return a PNG by name."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for word in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{word}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    made = {}
    try:
        for name, (width, height, scheme) in SHOTS.items():
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            feature = {"name": "prefers-color-scheme", "value": scheme}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
            driver.get(path.as_uri())
            near = f"return {IN_VIEW}.every((one) => one.dataset.drawn)"
            WebDriverWait(driver, 120).until(lambda driver, near=near: driver.execute_script(near))
            sleep(1)  # a drawn chart still settles the room for its names
            made[name] = small(driver.get_screenshot_as_png())
    finally:
        driver.quit()
    return made


def small(picture: bytes) -> bytes:
    """The picture in few colours."""
    file = io.BytesIO()
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        for name, picture in shots(page(Path(folder))).items():
            print(f"{name}.png: {len(picture)} bytes")
            assert len(picture) <= MOST_BYTES
            if write:
                FOLDER.mkdir(exist_ok=True)
                (FOLDER / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
