from __future__ import annotations

import csv
import io
import json

from hexsim.reports.roofline.table import point_facts, roofline_facts
from tests.charts import LAYERS, chart, layer


def test_json_and_csv_hold_the_same_points() -> None:
    drawn = chart(*LAYERS)
    document = json.loads(roofline_facts.json(drawn))
    assert document["peak_macs_per_s"] == 200e9
    assert [memory["is_limit"] for memory in document["memories"]] == [True, False, True]
    assert document["points"][0] == {
        "name": "thin",
        "type": "convolutional",
        "macs": 8000,
        "us": 1.0,
        "ddr_macs_per_byte": 1.0,
        "l2_macs_per_byte": 8.0,
        "macs_per_s": 8e9,
        "roof": "DDR",
        "roof_macs_per_s": 20e9,
        "lost_us": 0.6,
        "bound": "latency",
    }
    rows = list(csv.DictReader(io.StringIO(point_facts.csv(drawn.points))))
    for row, point in zip(rows, document["points"], strict=True):
        assert row == {key: str(value) for key, value in point.items()}


def test_no_bytes_are_null_and_an_empty_cell() -> None:
    drawn = chart(layer("free", 50_000))
    assert json.loads(roofline_facts.json(drawn))["points"][0]["ddr_macs_per_byte"] is None
    (row,) = csv.DictReader(io.StringIO(point_facts.csv(drawn.points)))
    assert row["ddr_macs_per_byte"] == ""
