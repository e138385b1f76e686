"""What a page of figures draws, read back from its data."""

from typing import Any


def columns(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """The columns of each set of marks of a figure's chart."""
    marks: list[dict[str, Any]] = figure["chart"]["marks"]
    return marks


def figure(page: dict[str, Any], title: str) -> dict[str, Any]:
    """The one figure of that title."""
    (drawing,) = (drawing for drawing in page["figures"] if drawing["title"] == title)
    assert isinstance(drawing, dict)
    return drawing
