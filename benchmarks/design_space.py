"""The tables of docs/results/design-space.md: what designs other than those built would change.

python -m benchmarks.design_space            prints the page with them
python -m benchmarks.design_space --write    writes it

The spaces are the files of benchmarks/spaces, as `hexsim sweep` takes them.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.pages import RESULTS, fenced, print_or_write, with_block
from hexsim.datasheets import chips
from hexsim.reports.studies import effects_table
from hexsim.studies.sweep.analysis import effects
from hexsim.studies.sweep.points import Points, row
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import read_space
from hexsim.studies.sweep.table import Swept, table_of

PAGE = RESULTS / "design-space.md"
SPACES = Path(__file__).with_name("spaces")


def swept(name: str) -> Swept:
    """Simulate a space in this process."""
    asked = read_space(SPACES / f"{name}.toml")
    points = Points(asked, settings(asked))
    rows = [row(points[number], asked.workload.inferences) for number in range(len(points))]
    return Swept(table_of(rows), asked, "")


def one_at_a_time(swept_points: Swept) -> str:
    """Latency and area when one constant has another value and all others are stated."""
    rows = swept_points.table.to_pylist()
    stated = {path: _stated(swept_points, path) for path in swept_points.space.constants}
    lines = [
        "| constant | value | network | ms | against the chip's own | mm² |",
        "|---|---|---|---|---|---|",
    ]
    for path in swept_points.space.constants:
        for value in sorted({point[path] for point in rows}):
            at = {**stated, path: value}
            for network in dict.fromkeys(point["network"] for point in rows):
                changed, own = (
                    next(
                        row
                        for row in rows
                        if row["network"] == network and all(row[p] == v for p, v in where.items())
                    )
                    for where in (at, stated)
                )
                ms, area = changed["latency_ms"], changed["area_mm2"]
                lines.append(
                    f"| `{path}` | {value:.6g} | {network} | {ms:.3f} "
                    f"| {ms / own['latency_ms']:.2f} | {area:.2f} |"
                )
    return "\n".join(lines)


def _stated(swept_points: Swept, path: str) -> float:
    value = dict(chips.load("sd855").quantities())[path].value
    values = swept_points.table[path].unique().to_pylist()
    return float(min(values, key=lambda stated: abs(stated - value)))


def page() -> str:
    """Return the page with the tables of today."""
    text = PAGE.read_text(encoding="utf-8")
    for name in ("memory-and-contexts", "packets"):
        points = swept(name)
        parts = fenced(effects_table(effects(points, "latency_ms")))
        text = with_block(text, name, f"{one_at_a_time(points)}\n\n{parts}")
    return text


if __name__ == "__main__":
    print_or_write(PAGE, page)
