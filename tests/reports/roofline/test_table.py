from __future__ import annotations

from hexsim.reports.roofline.table import roofline_table
from tests.charts import LAYERS, chart


def test_roofs_then_layers_then_what_is_missing() -> None:
    lines = roofline_table(chart(*LAYERS)).splitlines()
    assert lines[0] == "HVX: 200 GMAC/s"
    assert lines[1] == "DDR: 20.0 GB/s, below the peak up to 10.0 MAC/byte"
    assert [line.split() for line in lines[7:10]] == [
        ["thin", "0.01", "1.0", "8.0", "8.0", "DDR", "20.0", "40%", "1.0", "0.6", "latency"],
        ["dense", "0.10", "100.0", "10.0", "100.0", "HVX", "200.0", "50%", "1.0", "0.5", "compute"],
        ["wide", "0.02", "200.0", "0.2", "20.0", "L2", "25.0", "80%", "1.0", "0.2", "l2"],
    ]
    assert lines[-1].startswith("not shown: 1 layers without multiply-adds")
    assert lines[-1].endswith("40% of the total time")
