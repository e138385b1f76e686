"""Boxes do not overlap, arrows go down from writer to reader and around boxes, names stay text."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest

from hexsim.reports.svg import WIDTH, Box, LegendEntry, network_svg

SVG = "{http://www.w3.org/2000/svg}"


def box(name: str, reads: Sequence[str], writes: Sequence[str]) -> Box:
    return Box(name, "kind", "note", f"title of {name}", "#123456", tuple(reads), tuple(writes))


def drawn(boxes: Sequence[Box], legend: Sequence[LegendEntry] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(network_svg(boxes, legend))


def corner(root: ElementTree.Element, number: int) -> tuple[float, float]:
    rect = root.find(f"{SVG}g[@data-box='{number}']/{SVG}rect")
    assert rect is not None
    return float(rect.attrib["x"]), float(rect.attrib["y"])


def test_readers_stand_below_all_they_read() -> None:
    root = drawn([box("a", [], ["t"]), box("b", ["t"], ["u"]), box("c", ["t", "u"], ["v"])])
    heights = [corner(root, number)[1] for number in range(3)]
    assert heights == sorted(set(heights))
    ends = [(e.attrib["data-from"], e.attrib["data-to"]) for e in root.findall(f"{SVG}path")]
    assert ends == [("0", "1"), ("0", "2"), ("1", "2")]


def test_every_edge_has_an_arrow_head_that_exists() -> None:
    root = drawn([box("a", [], ["t"]), box("b", ["t"], ["u"])])
    (edge,) = root.findall(f"{SVG}path")
    match = re.fullmatch(r"url\(#(\w+)\)", edge.attrib["marker-end"])
    assert match
    assert root.find(f"{SVG}defs/{SVG}marker[@id='{match[1]}']") is not None


def test_an_edge_that_passes_rows_goes_around_their_boxes() -> None:
    chain = [box(f"{n}", [f"t{n - 1}"] if n else [], [f"t{n}"]) for n in range(5)]
    root = drawn([*chain, box("last", ["t0", "t4"], ["y"])])
    long = next(e for e in root.findall(f"{SVG}path") if e.attrib["data-from"] == "0"
                and e.attrib["data-to"] == "5")  # fmt: skip
    lane = re.search(r"L([-\d.]+),", long.attrib["d"])
    assert lane
    x, _ = corner(root, 2)
    assert not x < float(lane[1]) < x + WIDTH


def test_the_legend_has_every_shade() -> None:
    root = drawn(
        [box("a", [], ["t"])], [LegendEntry("one", ("#1", "#2")), LegendEntry("b", ("#3",))]
    )
    fills = [swatch.attrib["fill"] for swatch in root.findall(f"{SVG}rect[@class='swatch']")]
    assert fills == ["#1", "#2", "#3"]


@pytest.mark.parametrize("name", ["</svg><script>x</script>", '" onload="x', "a&b", "n" * 500])
def test_names_are_text(name: str) -> None:
    root = drawn([box(name, [], ["t"])])
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == set(
        ("svg", "defs", "marker", "path", "rect", "g", "title", "text")
    )
    text = root.find(f"{SVG}g/{SVG}text")
    assert text is not None
    assert text.text is not None
    assert name.endswith(text.text.removeprefix("…"))


def test_nothing_is_drawn_of_nothing() -> None:
    assert not drawn([]).findall(f"{SVG}g")


def test_a_long_chain_is_folded_and_no_arrow_between_folds_crosses_a_box() -> None:
    chain = [box(f"{n}", [f"t{n - 1}"] if n else [], [f"t{n}"]) for n in range(60)]
    root = drawn([*chain, box("last", ["t3", "t59"], ["y"])])
    corners = [corner(root, number) for number in range(61)]
    assert len({x for x, _ in corners}) == 5
    assert float(root.attrib["width"]) > float(root.attrib["height"])
    for edge in root.findall(f"{SVG}path"):
        steps = re.findall(r"([VH])(-?[\d.]+)", edge.attrib["d"])
        for (_, y), (kind, x), (_, down) in zip(steps[::2], steps[1::2], steps[2::2], strict=False):
            assert kind == "H"
            assert not any(top < float(y) < top + 44 for _, top in corners)
            last = (float(down), float(y)) if (down, y) != steps[-1][1:] else (0.0, 0.0)
            assert not any(
                left < float(x) < left + WIDTH and min(last) < top < max(last) - 44
                for left, top in corners
            )


def test_the_shape_that_a_box_writes_is_below_it() -> None:
    root = drawn([Box("a", "k", "n", "t", "#1", (), ("t",), ("1x2x3",)), box("b", ["t"], ["u"])])
    (shape,) = root.findall(f"{SVG}text[@class='shape']")
    assert shape.text == "1x2x3"
    assert corner(root, 0)[1] < float(shape.attrib["y"]) < corner(root, 1)[1]
