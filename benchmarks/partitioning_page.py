"""The tables of docs/results/partitioning.md: automatic cuts of built-in networks, and the fastest.

python -m benchmarks.partitioning_page            prints the page
python -m benchmarks.partitioning_page --write    writes it
"""

from __future__ import annotations

import hexsim
from benchmarks.pages import RESULTS, fenced, print_or_write, with_block
from hexsim.reports.text import table

PAGE = RESULTS / "partitioning.md"
CHIPS = ("sd855", "sd865")
NETWORKS = (
    *("alexnet", "googlenet", "inception_v3", "mobilenet_v1", "mobilenet_v2", "resnet50"),
    *("squeezenet1_1", "vgg16"),
)


def cuts(chip: str) -> str:
    """Return a line per network: the fastest sections, the automatic ones, and none."""
    lines = []
    for network in NETWORKS:
        search = hexsim.partition(network, chip=chip, search=True).search
        assert search is not None
        gain = search.gain
        lines.append(
            (
                network,
                search.best or "-",
                f"{search.best_us / 1e3:.2f}",
                search.default,
                f"{search.default_us / 1e3:.2f}",
                f"{search.hvx_us / 1e3:.2f}",
                f"{gain.value:.2f} ({gain.low:.2f} .. {gain.high:.2f})",
            )
        )
    header = ("network", "fastest", "ms", "automatic", "ms", "no section, ms", "gain")
    return fenced(table(header, lines, left=frozenset({0, 1, 3})))


def page() -> str:
    """Return the page with today's tables."""
    text = PAGE.read_text(encoding="utf-8")
    for chip in CHIPS:
        text = with_block(text, chip, cuts(chip))
    return text


if __name__ == "__main__":
    print_or_write(PAGE, page)
