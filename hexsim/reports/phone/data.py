"""A phone's profile beside the simulation, as JSON and CSV, and as rows for calibration."""

from collections.abc import Iterable, Mapping
from typing import Any

from hexsim.deployment.phone_profile.comparison import LayerPair, Pair, PhoneComparison
from hexsim.reports.anchor import anchor_keys
from hexsim.reports.document import Record
from hexsim.texts.csv_text import csv_text

HEADER = ("kind", "name", "class", "type", "output_nchw", "measured_us", "simulated_us", "ratio")
ROWS_HEADER = (
    *("network", "chip", "stack", "profile", "layer", "index", "type", "output_nchw"),
    *("dsp_us", "dsp_min_us", "dsp_max_us", "cpu_us", "gpu_us", "dsp_tf8_buffers_us", "source"),
)
"""The columns of published times of layers, of which calibration reads rows."""

ByColumn = Mapping[str, PhoneComparison]


_pair = Record(
    "A figure of the phone and of the simulation; the ratio is simulated over measured.",
    "measured_us simulated_us ratio name",
)

_layer = Record(
    "A layer of both sides, and the rows of the phone that are this layer.",
    _pair,
    "class=layer_class type index output_nchw=shape",
    {"rows": lambda pair: [row.name or row.id for row in pair.rows]},
)

phone_facts = Record(
    "A phone's profile beside the simulation.",
    "network chip stack runtime",
    anchor_keys,
    "perf_profile format remark",
    {
        "layers": ("layers", [_layer]),
        "classes": ("classes", [_pair]),
        "totals": ("totals", [_pair]),
        "only_measured": ("only_measured", [Record("", "name id type measured_us=us")]),
        "only_simulated": ("only_simulated", [Record("", "name simulated_us")]),
    },
)


def phone_csv(comparison: PhoneComparison) -> str:
    """Return a row for each layer, class and total, and for each layer of one side only."""
    rows: list[tuple[Any, ...]] = [
        (
            *("layer", pair.name, pair.layer_class, pair.type, _shape(pair)),
            *_numbers(pair),
        )
        for pair in comparison.layers
    ]
    for kind, pairs in (("class", comparison.classes), ("total", comparison.totals)):
        rows += [(kind, pair.name, None, None, None, *_numbers(pair)) for pair in pairs]
    rows += [
        ("only measured", row.name or row.id, None, row.type, None, row.us, None, None)
        for row in comparison.only_measured
    ]
    rows += [
        ("only simulated", pair.name, None, None, None, None, pair.simulated_us, None)
        for pair in comparison.only_simulated
    ]
    return csv_text(HEADER, rows)


def calibration_rows(comparison: PhoneComparison, by_column: ByColumn, source: str) -> str:
    """Return the measured layers as rows for calibration.

    `by_column` has the same profile by the columns `cpu_us`, `gpu_us`, `dsp_us` and
    `dsp_tf8_buffers_us`; a column that the phone did not measure stays empty.
    """
    columns = {
        column: {pair.name: pair for pair in measured.layers}
        for column, measured in by_column.items()
    }
    dsp = columns.get("dsp_us", {})
    rows = []
    for pair in comparison.layers:
        us = {
            column: pairs[pair.name].measured_us if pair.name in pairs else None
            for column, pairs in columns.items()
        }
        low, high = _extremes(dsp.get(pair.name))
        rows.append(
            (
                *(comparison.network, comparison.chip, comparison.stack, comparison.perf_profile),
                *(pair.name, pair.index, pair.type, _shape(pair)),
                *(us.get("dsp_us"), low, high, us.get("cpu_us"), us.get("gpu_us")),
                *(us.get("dsp_tf8_buffers_us"), source),
            )
        )
    return csv_text(ROWS_HEADER, rows)


def _extremes(pair: LayerPair | None) -> tuple[float | None, float | None]:
    """Return the shortest and the longest time; the mean where the file has no extremes."""
    if pair is None:
        return None, None
    lows = (row.us if row.low_us is None else row.low_us for row in pair.rows)
    highs = (row.us if row.high_us is None else row.high_us for row in pair.rows)
    return sum(lows), sum(highs)


def _shape(pair: LayerPair) -> str:
    return "x".join(map(str, pair.shape))


def _numbers(pair: Pair) -> Iterable[float | None]:
    return pair.measured_us, pair.simulated_us, pair.ratio
