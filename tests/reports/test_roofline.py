"""The picture; what it looks like is for eyes, what it names can be checked."""

from __future__ import annotations

import itertools
import math
import re
import sys
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.reports.picture import load_matplotlib
from hexsim.reports.roofline import roofline_table
from tests.charts import LAYERS, case, chart, layer


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


CASE = case(*LAYERS)


def test_without_matplotlib_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HexsimError, match=r"pip install .*\[report\]'"):
        load_matplotlib()


def test_an_svg_names_roofs_bounds_and_the_worst_layers() -> None:
    pytest.importorskip("matplotlib")
    from hexsim.reports.picture import picture

    svg = picture(CASE, chart(*LAYERS), "svg").decode()
    for text in ("HVX: 200 GMAC/s", "DDR: 20.0 GB/s", "one stream: 5.00 GB/s", "L2: 100 GB/s"):
        assert text in svg
    assert [name for name in re.findall(r">\d  (\w+)<", svg)] == ["thin", "dense", "wide"]
    assert "layer bound by latency" in svg
    assert "bound by imbalance" not in svg


def test_a_layer_stands_at_the_memory_that_binds_it() -> None:
    """thin waits for DDR, wide is bound by L2; dense computes, nearest to the roof of HVX."""
    places = {point.name: point.place for point in chart(*LAYERS).points}
    assert places == {"thin": 1.0, "dense": 10.0, "wide": 0.25}
    for point in chart(*LAYERS).points:
        assert point.own_macs_per_s * point.bound_share == pytest.approx(point.macs_per_s)


def test_equal_charts_give_equal_bytes() -> None:
    pytest.importorskip("matplotlib")
    from hexsim.reports.picture import picture

    for kind in ("png", "svg"):
        assert picture(CASE, chart(*LAYERS), kind) == picture(CASE, chart(*LAYERS), kind)


def test_nothing_to_show_and_layers_without_bytes_are_drawn_too() -> None:
    pytest.importorskip("matplotlib")
    from hexsim.reports.picture import picture

    for drawn in (chart(), chart(layer("free", 50_000), *LAYERS)):
        assert picture(CASE, drawn, "png").startswith(b"\x89PNG")


def test_numbers_do_not_cover_each_other() -> None:
    """Ten layers in one spot still get ten numbers that can be read."""
    pytest.importorskip("matplotlib")
    from hexsim.reports.picture import picture

    crowd = [layer(f"l{k}", 100_000 + k, ddr_bytes=1000, l2_bytes=10_000) for k in range(10)]
    svg = picture(CASE, chart(*crowd), "svg").decode()
    number = r'font-size: 8px[^>]*" x="([\d.]+)" y="([\d.]+)"[^>]*>\d+</text>'
    places = [(float(x), float(y)) for x, y in re.findall(number, svg)]
    assert len(places) == 10
    for place, other in itertools.combinations(places, 2):
        assert math.dist(place, other) > 14


@pytest.mark.parametrize(("name", "kind"), [("a.png", "png"), ("b.SVG", "svg")])
def test_the_name_of_a_file_chooses_its_format(name: str, kind: str) -> None:
    pytest.importorskip("matplotlib")
    from hexsim.reports.picture import picture_format

    assert picture_format(Path(name)) == kind
    with pytest.raises(HexsimError, match=r"must end in .png or .svg"):
        picture_format(Path(f"{name}.pdf"))
