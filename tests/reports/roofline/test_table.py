from __future__ import annotations

from hexsim.reports.roofline.table import roofline_table
from tests.charts import LAYERS, chart


def test_roofs_then_layers_then_what_is_missing() -> None:
    lines = roofline_table(chart(*LAYERS)).splitlines()
    assert lines[0] == "HVX: 200 GMAC/s"
    assert lines[1] == "DDR: 20.0 GB/s, below the peak up to 10.0 MAC/byte"
    assert [" ".join(line.split()) for line in lines[7:10]] == [
        "thin 0.00800 1.00 8.00 8.00 DDR 20.0 40% 1.00 0.600 latency",
        "dense 0.100 100 10.0 100 HVX 200 50% 1.00 0.500 compute",
        "wide 0.0200 200 0.250 20.0 L2 25.0 80% 1.00 0.200 l2",
    ]
    assert lines[-1].startswith("not shown: 1 layers without multiply-adds")
    assert lines[-1].endswith("40% of the total time")
