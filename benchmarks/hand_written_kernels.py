"""Our scheduled kernels beside the hand-written ones of Hexagon NN: the table of
docs/results/kernels.md, and the loop that docs/concepts/kernels.md begins with.

python -m benchmarks.hand_written_kernels --write    puts them into the pages
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.hand_written import comparison
from benchmarks.pages import CONCEPTS, RESULTS, fenced, with_block
from hexsim.deployment.platform import Platform
from hexsim.files.atomic_write import write_text
from hexsim.reports.kernel import kernel_table
from hexsim.studies.kernel_probe import described, probe

PAGE = RESULTS / "kernels.md"
CONCEPT = CONCEPTS / "kernels.md"
CLOSE = 0.05
"""Deviation above which a row states its reason."""


def table() -> str:
    """Return one line per loop, packets per tile, and how far off they are in all."""
    lines = [
        "| kernel | tile | ours | stalls | theirs | deviation | source | reason |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows = list(comparison())
    for row in rows:
        kernel, off = row.kernel, row.deviation
        reason = kernel.note if abs(off) > CLOSE else ""
        lines.append(
            f"| {kernel.name} | {row.shape} | {kernel.packets} | {kernel.cost.stalls} "
            f"| {row.theirs} | {off:+.1%} | {row.source} | {reason} |"
        )
    off = [abs(row.deviation) for row in rows]
    within = sum(ratio <= CLOSE for ratio in off)
    worst = max(rows, key=lambda row: abs(row.deviation))
    return "\n".join(lines) + (
        f"\n\n{len(rows)} rows, {within} within 5 %; median {statistics.median(off):.1%}, "
        f"worst {abs(worst.deviation):.0%} ({worst.kernel.name}).\n"
    )


def page_with(text: str) -> str:
    """Return the page with `text` as its table."""
    return with_block(PAGE.read_text(encoding="utf-8"), "table", text)


def loop() -> str:
    """Return the loop that `hexsim kernel max_pool --chip sd855 --shape 8x8x32:2x2:s2` prints."""
    printed = kernel_table(described(probe("max_pool", "8x8x32:2x2:s2", Platform.load("sd855"))))
    return fenced("\n\n".join(printed.split("\n\n")[-2:]))


def concept_with(text: str) -> str:
    """Return the page on kernels with `text` as its example."""
    return with_block(CONCEPT.read_text(encoding="utf-8"), "example", text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(PAGE, page_with(table()))
        write_text(CONCEPT, concept_with(loop()))
    else:
        print(table(), end="")
