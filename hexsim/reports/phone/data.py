"""A phone's profile beside the simulation, as JSON and CSV, and as rows for calibration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hexsim.deployment.phone_profile.comparison import LayerPair, Pair, PhoneComparison
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import anchor_facts

HEADER = ("kind", "name", "class", "type", "output_nchw", "measured_us", "simulated_us", "ratio")
ROWS_HEADER = (
    *("network", "chip", "stack", "profile", "layer", "index", "type", "output_nchw"),
    *("dsp_us", "dsp_min_us", "dsp_max_us", "cpu_us", "gpu_us", "dsp_tf8_buffers_us", "source"),
)
"""The columns of published times of layers, of which calibration reads rows."""

ByColumn = Mapping[str, PhoneComparison]


def phone_json(comparison: PhoneComparison) -> str:
    """Return everything; times in microseconds, ratios are simulated over measured."""
    document = {
        **{name: getattr(comparison, name) for name in ("network", "chip", "stack", "runtime")},
        **anchor_facts(comparison.anchor),
        "perf_profile": comparison.perf_profile,
        "format": comparison.format,
        "remark": comparison.remark,
        "layers": [
            _pair(pair)
            | {
                "class": pair.layer_class,
                "type": pair.type,
                "index": pair.index,
                "output_nchw": pair.shape,
                "rows": [row.name or row.id for row in pair.rows],
            }
            for pair in comparison.layers
        ],
        "classes": [_pair(pair) for pair in comparison.classes],
        "totals": [_pair(pair) for pair in comparison.totals],
        "only_measured": [
            {"name": row.name, "id": row.id, "type": row.type, "measured_us": row.us}
            for row in comparison.only_measured
        ],
        "only_simulated": [
            {"name": pair.name, "simulated_us": pair.simulated_us}
            for pair in comparison.only_simulated
        ],
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


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


def _pair(pair: Pair) -> dict[str, Any]:
    return dict(zip(("measured_us", "simulated_us", "ratio"), _numbers(pair), strict=True)) | {
        "name": pair.name
    }


def _numbers(pair: Pair) -> Iterable[float | None]:
    return pair.measured_us, pair.simulated_us, pair.ratio
