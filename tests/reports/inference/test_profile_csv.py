from __future__ import annotations

import csv
import io

from hexsim.reports.inference.profile import profile_csv
from tests.charts import LAYERS, case


def test_a_row_per_layer_with_bytes_by_level_and_divided_time() -> None:
    profiled = case(*LAYERS)
    rows = list(csv.DictReader(io.StringIO(profile_csv(profiled))))
    assert [row["name"] for row in rows] == ["dense", "thin", "wide", "pool"]
    thin = rows[1]
    assert (thin["ddr_read_bytes"], thin["ddr_write_bytes"]) == ("8000", "0")
    assert (thin["l2_bytes"], thin["vtcm_bytes"]) == ("1000", "0")
    assert (thin["weight_bytes"], thin["live_bytes"]) == ("1024", "2048")
    assert (thin["bound"], thin["bound_share"]) == ("latency", "1.0")
    assert (thin["latency_us"], thin["compute_us"], thin["overhead_us"]) == ("1.0", "0.0", "0.0")


def test_no_layers_are_a_header() -> None:
    profiled = case()
    assert profile_csv(profiled).count("\n") == 1
