"""A network drawn from top to bottom, each layer in the colour of the engine that runs it.

A layer stands one row below the lowest of those it reads. Layers of one row stand side by side in
their order; an edge that passes rows goes around what is between. Subnets of one engine that
follow one another differ in shade, and each layer says the number of its subnet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from hexsim.graph.ir import Network
from hexsim.runtimes import Engine
from hexsim.studies.cuts import Survey

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _LEGEND = 190, 30, 16, 20, 24, 34
_COLOURS: Mapping[Engine, tuple[str, str]] = {
    "hta": ("#8fd19e", "#5fb878"),
    "hvx": ("#9ecbff", "#6aa9f0"),
    "cpu": ("#ffd59e", "#f0b35a"),
    "gpu": ("#e0b3ff", "#c58af0"),
}
_NAMES: Mapping[Engine, str] = {
    "hta": "HTA",
    "hvx": "HNN on HVX",
    "cpu": "CPU fallback",
    "gpu": "GPU",
}
_MOST_LETTERS = 26


@dataclass(frozen=True)
class _Box:
    """Top left corner of a layer, in px, and its place in the grid."""

    x: float
    y: float
    row: int

    @property
    def top(self) -> tuple[float, float]:
        """Where edges come in."""
        return self.x + _WIDTH / 2, self.y

    @property
    def bottom(self) -> tuple[float, float]:
        """Where edges leave."""
        return self.x + _WIDTH / 2, self.y + _HEIGHT


def partition_svg(network: Network, survey: Survey) -> str:
    """Return the drawing as an SVG document."""
    boxes = _boxes(network)
    width = max(max(box.x for box in boxes.values()) + _WIDTH, 3 * _WIDTH) + 2 * _MARGIN
    height = max(box.y for box in boxes.values()) + _HEIGHT + _MARGIN
    body = [*_legend(survey), *_edges(network, boxes), *_layers(network, survey, boxes)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="11">'
    )
    background = '<rect width="100%" height="100%" fill="white"/>'
    return "\n".join((head, background, *body, "</svg>")) + "\n"


def _boxes(network: Network) -> dict[str, _Box]:
    rows: dict[str, int] = {}
    by_row: dict[int, list[str]] = {}
    for layer in network.layers:
        above = [rows[n] for n in layer.inputs if n in rows]
        row = max(above, default=-1) + 1
        by_row.setdefault(row, []).append(layer.name)
        rows.update(dict.fromkeys(layer.outputs, row))
    widest = max(map(len, by_row.values()))
    step_x, step_y = _WIDTH + _GAP_X, _HEIGHT + _GAP_Y
    return {
        name: _Box(
            _MARGIN + (widest - len(names)) * step_x / 2 + column * step_x,
            _MARGIN + _LEGEND + row * step_y,
            row,
        )
        for row, names in by_row.items()
        for column, name in enumerate(names)
    }


def _edges(network: Network, boxes: Mapping[str, _Box]) -> Iterator[str]:
    rows: dict[int, list[_Box]] = {}
    for box in boxes.values():
        rows.setdefault(box.row, []).append(box)
    for layer in network.layers:
        for name in layer.inputs:
            writer = network.producers.get(name)
            if writer is not None:
                start, end = boxes[writer.name], boxes[layer.name]
                between = [box for row in range(start.row + 1, end.row) for box in rows[row]]
                yield _edge(start, end, between)


def _edge(start: _Box, end: _Box, between: Sequence[_Box]) -> str:
    """A curve down to a lane that is free of the boxes between, along it, and to the end."""
    (x0, y0), (x1, y1) = start.bottom, end.top
    sides = [side for b in between for side in (b.x - _GAP_X / 2, b.x + _WIDTH + _GAP_X / 2)]
    free = [
        lane
        for lane in (x0, x1, *sides)
        if not any(b.x - _GAP_X / 4 < lane < b.x + _WIDTH + _GAP_X / 4 for b in between)
    ]
    lane = min(free, key=lambda x: abs(x - x0) + abs(x - x1))
    down, up = y0 + _GAP_Y, y1 - _GAP_Y
    return (
        f'<path d="M{x0:g},{y0:g} C{x0:g},{down:g} {lane:g},{y0:g} {lane:g},{down:g} '
        f'L{lane:g},{up:g} C{lane:g},{y1:g} {x1:g},{up:g} {x1:g},{y1:g}" '
        'fill="none" stroke="#777"/>'
        if between
        else f'<path d="M{x0:g},{y0:g} C{x0:g},{down:g} {x1:g},{up:g} {x1:g},{y1:g}" '
        'fill="none" stroke="#777"/>'
    )


def _layers(network: Network, survey: Survey, boxes: Mapping[str, _Box]) -> Iterator[str]:
    types = {layer.name: escape(layer.type) for layer in network.layers}
    for number, piece in enumerate(survey.pieces):
        fill = _COLOURS[piece.engine][number % 2]
        for name in piece.layers:
            box = boxes[name]
            short = name if len(name) <= _MOST_LETTERS else "…" + name[1 - _MOST_LETTERS :]
            x = box.x + 6
            yield (
                f"<g><title>{escape(name)}: {types[name]}, subnet {number}, {piece.engine}</title>"
                f'<rect x="{box.x:g}" y="{box.y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
                f'fill="{fill}" stroke="#555"/>'
                f'<text x="{x:g}" y="{box.y + 13:g}">{escape(short)}</text>'
                f'<text x="{x:g}" y="{box.y + 25:g}" fill="#444" font-size="9">'
                f"{types[name]}, subnet {number}</text></g>"
            )


def _legend(survey: Survey) -> Iterator[str]:
    for column, engine in enumerate(dict.fromkeys(piece.engine for piece in survey.pieces)):
        x = _MARGIN + column * _WIDTH
        yield (
            f'<rect x="{x}" y="{_MARGIN - 8}" width="14" height="14" '
            f'fill="{_COLOURS[engine][0]}" stroke="#555"/>'
            f'<text x="{x + 20}" y="{_MARGIN + 3}">{_NAMES[engine]}</text>'
        )
