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


_PREFIXES: dict[str, tuple[tuple[float, str], ...]] = {
    "Hz": ((1e9, "GHz"), (1e6, "MHz")),
    "B/s": ((1e9, "GB/s"), (1e6, "MB/s")),
    "B": ((2**20, "MiB"), (2**10, "KiB")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "s/B": ((1e-9, "ns/B"), (1e-12, "ps/B")),
    "s/element": ((1e-9, "ns/element"), (1e-12, "ps/element")),
}


def quantity(value: float, unit: str) -> str:
    """Return `value` in the prefixed unit that suits it: `825 MHz`, `256 KiB`, `250 ns`."""
    for factor, prefixed in _PREFIXES.get(unit, ()):
        if value >= factor:
            return f"{value / factor:.4g} {prefixed}"
    return f"{value:.6g}" if unit == "1" else f"{value:.6g} {unit}"
