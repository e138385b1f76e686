"""The example of docs/concepts/energy.md: what an always-on network takes on island and DSP.

python -m benchmarks.energy_page [--write]
"""

from __future__ import annotations

from benchmarks.pages import CONCEPTS, fenced, print_or_write, with_block
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.reports.studies import always_on_text
from hexsim.studies.always_on import always_on

PAGE = CONCEPTS / "energy.md"


def example() -> str:
    """Return what `hexsim always-on ds_cnn_s --every 20 --chip sd855` prints."""
    phone = Platform.load("sd855")
    plan = deploy(load("ds_cnn_s"), phone, "dsp").plan
    return fenced(always_on_text(always_on(plan, phone, 20.0)))


def page() -> str:
    """Return the page with today's example."""
    return with_block(PAGE.read_text(encoding="utf-8"), "always-on", example())


if __name__ == "__main__":
    print_or_write(PAGE, page, example)
