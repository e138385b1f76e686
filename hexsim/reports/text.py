"""Plain text tables: aligned columns that read well on a terminal and in a file."""

from collections.abc import Iterator, Mapping, Sequence

from hexsim.reports.fitting import GAP, Fitted


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: frozenset[int] = frozenset({0}),
    first_to_go: Sequence[int] = (),
    whole: frozenset[int] = frozenset(),
    explained: Mapping[tuple[str, ...], str] | None = None,
) -> str:
    """Return `rows` under `header`; columns in `left` are left-aligned, the others right.

    If the page is too narrow (hexsim.reports.fitting), the columns of `first_to_go` are left out
    first; names in columns of `whole` are not shortened. `explained` are the meanings of columns,
    which are listed below the table for the columns that are shown.
    """
    lines = [tuple(header), *(tuple(row) for row in rows)]
    fitted = Fitted(lines, left - whole, first_to_go)

    def show(line: Sequence[str]) -> Iterator[str]:
        for cells in fitted.broken(line):
            aligned = (
                cell.ljust(fitted.widths[column])
                if column in left
                else cell.rjust(fitted.widths[column])
                for column, cell in zip(fitted.columns, cells, strict=True)
            )
            yield GAP.join(aligned).rstrip()

    rule = GAP.join("-" * fitted.widths[column] for column in fitted.columns)
    printed = [*show(lines[0]), rule, *(text for line in lines[1:] for text in show(line))]
    shown_names = {header[column] for column in fitted.columns}
    meanings = {
        tuple(name for name in names if name in shown_names): meaning
        for names, meaning in (explained or {}).items()
    }
    legend = [f"{', '.join(names)}: {meaning}" for names, meaning in meanings.items() if names]
    return "\n".join([*printed, *filter(None, [fitted.remark()]), *([""] * bool(legend)), *legend])


def number(count: int, what: str) -> str:
    """Return `1 point`, `2 points`: a count with its noun."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


_PREFIXES: dict[str, tuple[tuple[float, str], ...]] = {
    "Hz": ((1e9, "GHz"), (1e6, "MHz")),
    "B/s": ((1e9, "GB/s"), (1e6, "MB/s")),
    "B": ((2**20, "MiB"), (2**10, "KiB")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "s/B": ((1e-9, "ns/B"), (1e-12, "ps/B")),
    "s/element": ((1e-9, "ns/element"), (1e-12, "ps/element")),
}


def quantity(value: float, unit: str) -> str:
    """Return a constant in the prefixed unit that suits it: `825 MHz`, `256 KiB`, `250 ns`."""
    for factor, prefixed in _PREFIXES.get(unit, ()):
        if value >= factor:
            return f"{value / factor:.4g} {prefixed}"
    return f"{value:.6g}" if unit == "1" else f"{value:.6g} {unit}"
