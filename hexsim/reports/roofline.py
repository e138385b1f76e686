"""A roofline as a table."""

from hexsim.reports.text import table
from hexsim.results.roofline import Roofline, RooflinePoint
from hexsim.texts.figures import figure

HEADER = (
    *("layer", "MMAC", "MAC/B DDR", "MAC/B L2", "GMAC/s"),
    *("roof", "roof GMAC/s", "reached", "us", "lost us", "bound"),
)
_FIRST_TO_GO = (3, 1, 4, 6, 2)


def roofline_table(chart: Roofline) -> str:
    """Return the roofs, a line per layer and a note on the layers that are not in the table."""
    rows = [_row(point) for point in chart.points]
    text = table(HEADER, rows, left=frozenset({0, 5, 10}), first_to_go=_FIRST_TO_GO)
    return f"{_roofs(chart)}\n\n{text}\n\n{_LEGEND}\n{left_out(chart)}"


_LEGEND = (
    "roof: the lowest one over the layer; lost: time beyond that roof; "
    "bound: what most of its time is spent on"
)


def left_out(chart: Roofline) -> str:
    """Return a note on what the chart does not show."""
    return (
        f"not shown: {chart.other_layers} layers without multiply-adds or on other engines, and "
        f"everything that is not a layer: {chart.other_share:.0%} of the total time"
    )


def _roofs(chart: Roofline) -> str:
    lines = [f"{chart.peak_name}: {figure(chart.peak_macs_per_s / 1e9)} GMAC/s"]
    for memory in chart.memories:
        ridge = chart.peak_macs_per_s / memory.bytes_per_s
        lines.append(
            f"{memory.name}: {figure(memory.bytes_per_s / 1e9)} GB/s, "
            f"below the peak up to {figure(ridge)} MAC/byte"
        )
    return "\n".join(lines)


def _row(point: RooflinePoint) -> tuple[str, ...]:
    return (
        point.name,
        figure(point.macs / 1e6),
        _intensity(point.ddr_macs_per_byte),
        _intensity(point.l2_macs_per_byte),
        figure(point.macs_per_s / 1e9),
        point.roof,
        figure(point.roof_macs_per_s / 1e9),
        f"{point.share_of_roof:.0%}",
        figure(point.us),
        figure(point.lost_us),
        point.bound,
    )


def _intensity(value: float | None) -> str:
    return "" if value is None else figure(value)
