"""Our scheduled kernels beside the hand-written ones of Hexagon NN: the table of docs/kernels.md.

python -m benchmarks.hand_written_kernels --write    puts the table into the page
"""

from __future__ import annotations

import statistics
import sys

from benchmarks.pages import DOCS, with_block
from hexsim.hvx.streams.hand_written import comparison

PAGE = DOCS / "kernels.md"
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
    within = sum(one <= CLOSE for one in off)
    worst = max(rows, key=lambda row: abs(row.deviation))
    return "\n".join(lines) + (
        f"\n\n{len(rows)} rows, {within} within 5 %; median {statistics.median(off):.1%}, "
        f"worst {abs(worst.deviation):.0%} ({worst.kernel.name}).\n"
    )


def page_with(text: str) -> str:
    """Return the page with `text` as its table."""
    return with_block(PAGE.read_text(encoding="utf-8"), "table", text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page_with(table()), encoding="utf-8")
    else:
        print(table(), end="")
