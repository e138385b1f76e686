"""Plain text tables: aligned columns that read well on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Sequence


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: frozenset[int] = frozenset({0})
) -> str:
    """Return `rows` under `header`; columns in `left` are left-aligned, the others right."""
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def show(line: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([show(lines[0]), rule, *(show(line) for line in lines[1:])])


def quantity(value: float, unit: str) -> str:
    """Return `value` with an SI prefix and three to four digits: `825 MHz`, `3.5 GB/s`."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor and unit not in {"1", ""}:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.6g}" if unit in {"1", ""} else f"{value:.4g} {unit}"
