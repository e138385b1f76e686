"""What a page of figures draws, read back from its data."""

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _column(value: Any) -> list[Any]:
    """A column as the library writes it: a list, or the bytes of an array."""
    if isinstance(value, dict) and value.get("type") == "ndarray":
        array = value["array"]
        if isinstance(array, dict):
            data = base64.b64decode(array["data"])
            return list(np.frombuffer(data, value["dtype"]).tolist())
        return list(array)
    return list(value)


def columns(figure: dict[str, Any]) -> list[dict[str, list[Any]]]:
    """The columns of each source of a figure's chart."""
    sources = [
        source for source in _objects(figure["item"]) if source.get("name") == "ColumnDataSource"
    ]
    return [
        {key: _column(value) for key, value in source["attributes"]["data"]["entries"]}
        for source in sources
    ]


def figure(page: dict[str, Any], title: str) -> dict[str, Any]:
    """The one figure of that title."""
    (drawing,) = (drawing for drawing in page["figures"] if drawing["title"] == title)
    assert isinstance(drawing, dict)
    return drawing
