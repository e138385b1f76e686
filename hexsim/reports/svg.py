"""A network drawn from top to bottom as SVG: boxes in rows, and arrows from writers to readers.

A box stands one row below the lowest box that it reads. Boxes of one row stand side by side in
their order; an arrow that crosses rows goes around the boxes between. Below a box is the shape that
it writes. A long narrow network is folded: its rows continue at the top, further to the right, and
arrows from one fold to another run in the gutters between the folds. The caller chooses text and
colour of each box. A page can restyle the drawing by the classes `box` and `edge`, by `data-box`,
the number of a box, and by `data-layer`, its name, and scale it to whole folds by `data-fold`,
their distance; without a style sheet its attributes give its appearance.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from hexsim.graph.ir import Layer, Network, Tensor
from hexsim.records import dataclass
from hexsim.studies.inspection import attributes

WIDTH = 190
"""Width of a box, in px."""
_HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _LEGEND = 44, 16, 26, 24, 34
_GUTTER, _LANES = 44, 6
"""Width between folds in px, and the number of lanes in which arrows run there."""
_WIDE, _FEWEST_ROWS = 1400, 6
"""The width in px that a drawing fills by folds, and the least number of rows in a fold."""
_SWATCH = 14
_MOST_LETTERS, _MOST_FACTS = 28, 36
_MOST_TITLE = 300
_LINE = "#777"
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
    'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0,0 L8,4 L0,8 z" class="arrow" fill="{_LINE}"/></marker></defs>'
)
_Span = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A layer as it is drawn: its texts, its colour, and the tensors that it reads and writes.

    `note` stands beside the type, `facts` (attributes) below the name. `shapes` are those of the
    tensors that it writes, as text. `band` is the colour of a stripe at its left edge, if it has
    one.
    """

    name: str
    type: str
    note: str
    title: str
    fill: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    shapes: tuple[str, ...] = ()
    facts: str = ""
    band: str = ""


@dataclass(frozen=True)
class LegendEntry:
    """The meaning of a colour, or of several shades."""

    text: str
    fills: tuple[str, ...]


@dataclass(frozen=True)
class _BoxPosition:
    """Top left corner of a box, in px, its row, and its fold with the left edge of that."""

    x: float
    y: float
    row: int
    fold: int
    left: float

    @property
    def middle(self) -> float:
        return self.x + WIDTH / 2


_SHOWN_FACTS = {
    **{"kernel": "{}", "stride x": "stride {}", "num filters": "{} filters"},
    **{"groups": "{} groups", "dilation": "dilation {}", "axis": "axis {}", "axes": "axes {}"},
    **{"order": "order {}", "clamp": "{}", "function": "{}", "kind": "{}", "mode": "{}"},
}
"""How a box says an attribute."""

_CLAMPS = {"0 to inf": "relu", "0 to 6": "relu6"}


def facts_of(layer: Layer) -> str:
    """Return the main attributes of a layer, as far as they are not 1: `3x3, stride 2`."""
    values = dict(attributes(layer))
    if "clamp" in values:
        values["clamp"] = _CLAMPS.get(values["clamp"], values["clamp"])
    said = ((values.get(name, "1"), form) for name, form in _SHOWN_FACTS.items())
    return ", ".join(form.format(value) for value, form in said if value != "1")


def shapes_of(layer: Layer, network: Network) -> tuple[str, ...]:
    """Return the shapes that a layer writes, as text for the arrows of a drawing."""
    return tuple(size(network.tensors[name]) for name in layer.outputs)


def layer_box(
    layer: Layer, network: Network, fill: str, band: str = "", *, note: str = "", said: str = ""
) -> Box:
    """Return the box of a layer; `said` ends its title."""
    ends = (layer.inputs, layer.outputs, shapes_of(layer, network))
    title = f"{layer.name}: {layer.type}{said}"
    return Box(layer.name, layer.type, note, title, fill, *ends, facts_of(layer), band)


def size(tensor: Tensor) -> str:
    """Return the shape of a tensor as text."""
    return "x".join(map(str, tensor.shape)) or "scalar"


def network_svg(
    boxes: Sequence[Box], legend: Sequence[LegendEntry] = (), *, folded: bool = True
) -> str:
    """Return the drawing of `boxes` as a document; each box must come after those that it reads."""
    top, wide = _MARGIN + (_LEGEND if legend else 0), _WIDE if folded else 0
    places, fold_width = _places(boxes, top, wide)
    right = max((place.x for place in places), default=0.0) + WIDTH
    width = max(right, (len(legend) or 1) * WIDTH) + _MARGIN
    height = max((place.y for place in places), default=0.0) + _HEIGHT + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" data-fold="{fold_width}" font-family="sans-serif" '
        'font-size="11">'
    )
    paper = '<rect width="100%" height="100%" class="paper" fill="white"/>'
    body = (*_legend(legend), *_edges(boxes, places), *_shapes(boxes, places))
    body += tuple(_boxes(boxes, places))
    return "\n".join((head, _ARROW, paper, *body, "</svg>")) + "\n"


def _places(boxes: Sequence[Box], top: float, wide: int) -> tuple[list[_BoxPosition], int]:
    """Return where the boxes stand, and the distance between folds."""
    writer_rows: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    lengths: dict[int, int] = {}
    for box in boxes:
        row = max((writer_rows[name] for name in box.reads if name in writer_rows), default=-1) + 1
        rows.append(row)
        columns.append(lengths.get(row, 0))
        lengths[row] = lengths.get(row, 0) + 1
        writer_rows.update(dict.fromkeys(box.writes, row))
    widest = max(lengths.values(), default=0)
    step_x, step_y = WIDTH + _GAP_X, _HEIGHT + _GAP_Y
    fold_width = widest * step_x - _GAP_X + _GUTTER
    folds = max(1, min(wide // fold_width, len(lengths) // _FEWEST_ROWS)) if lengths else 1
    height = -(-len(lengths) // folds)
    places = []
    for row, column in zip(rows, columns, strict=True):
        left = _MARGIN + row // max(1, height) * fold_width
        x = left + (widest - lengths[row]) * step_x / 2 + column * step_x
        y = top + row % max(1, height) * step_y
        places.append(_BoxPosition(x, y, row, row // max(1, height), left))
    return places, fold_width


def _edges(boxes: Sequence[Box], places: Sequence[_BoxPosition]) -> Iterator[str]:
    by_row = sorted(places, key=lambda place: place.row)
    rows = {
        row: {box.x for box in row_boxes}
        for row, row_boxes in groupby(by_row, lambda place: place.row)
    }
    writers: dict[str, int] = {}
    for number, box in enumerate(boxes):
        for name in box.reads:
            if name in writers:
                start, end = places[writers[name]], places[number]
                between = {x for row in range(start.row + 1, end.row) for x in rows[row]}
                folded = start.fold != end.fold
                lane = 8 + (writers[name] % _LANES) * (_GUTTER - 16) / _LANES
                path = _around(start, end, lane) if folded else _path(start, end, between)
                yield (
                    f'<path class="edge" data-from="{writers[name]}" data-to="{number}" '
                    f'd="{path}" fill="none" stroke="{_LINE}" '
                    'marker-end="url(#arrow)"/>'
                )
        writers.update(dict.fromkeys(box.writes, number))


def _around(start: _BoxPosition, end: _BoxPosition, lane: float) -> str:
    """Return a path to another fold, in the gutters left of the folds behind both boxes.

    It is level only between rows and above all of them.
    """
    fold_width = (end.left - start.left) / (end.fold - start.fold)
    out, into = start.left + fold_width - _GUTTER + lane, end.left - _GUTTER + lane
    down, up = start.y + _HEIGHT + 0.7 * _GAP_Y, end.y - _GAP_Y / 2
    over = "" if out == into else f"V{_MARGIN / 4:g} H{into:g} "
    return (
        f"M{start.middle:g},{start.y + _HEIGHT:g} V{down:g} H{out:g} {over}"
        f"V{up:g} H{end.middle:g} V{end.y:g}"
    )


def _shapes(boxes: Sequence[Box], places: Sequence[_BoxPosition]) -> Iterator[str]:
    """Yield the shapes beside the arrows that leave the boxes; of several outputs the first."""
    read = {name for box in boxes for name in box.reads}
    for box, place in zip(boxes, places, strict=True):
        shown = [shape for name, shape in zip(box.writes, box.shapes, strict=False) if name in read]
        if shown:
            more = ", …" if len(shown) > 1 else ""
            yield (
                f'<text class="shape" x="{place.middle + 5:g}" y="{place.y + _HEIGHT + 11:g}" '
                f'fill="#555" font-size="9">{escape(shown[0])}{more}</text>'
            )


def _path(start: _BoxPosition, end: _BoxPosition, between: Iterable[float]) -> str:
    """Return a curve to `end` along a lane that avoids the boxes at the x `between`."""
    x0, y0, x1, y1 = start.middle, start.y + _HEIGHT, end.middle, end.y
    down, up = y0 + _GAP_Y, y1 - _GAP_Y
    blocked = _joined((x - _GAP_X / 4, x + WIDTH + _GAP_X / 4) for x in between)
    if not blocked:
        return f"M{x0:g},{y0:g} C{x0:g},{down:g} {x1:g},{up:g} {x1:g},{y1:g}"
    sides = [side for low, high in blocked for side in (low - _GAP_X / 4, high + _GAP_X / 4)]
    free = [
        lane for lane in (x0, x1, *sides) if not any(low < lane < high for low, high in blocked)
    ]
    lane = min(free, key=lambda x: abs(x - x0) + abs(x - x1))
    return (
        f"M{x0:g},{y0:g} C{x0:g},{down:g} {lane:g},{y0:g} {lane:g},{down:g} "
        f"L{lane:g},{up:g} C{lane:g},{y1:g} {x1:g},{up:g} {x1:g},{y1:g}"
    )


def _joined(spans: Iterable[_Span]) -> list[_Span]:
    union: list[_Span] = []
    for low, high in sorted(spans):
        if union and low < union[-1][1]:
            union[-1] = (union[-1][0], max(high, union[-1][1]))
        else:
            union.append((low, high))
    return union


def _boxes(boxes: Sequence[Box], places: Sequence[_BoxPosition]) -> Iterator[str]:
    for number, (box, place) in enumerate(zip(boxes, places, strict=True)):
        x, y = place.x + 9, place.y
        band = f'<rect class="band" x="{place.x + 1:g}" y="{y + 1:g}" width="5" ' * bool(box.band)
        band += f'height="{_HEIGHT - 2}" fill={quoteattr(box.band)}/>' * bool(box.band)
        yield (
            f'<g class="box" data-box="{number}" data-layer={quoteattr(box.name)}>'
            f"<title>{escape(box.title[:_MOST_TITLE])}</title>"
            f'<rect x="{place.x:g}" y="{y:g}" width="{WIDTH}" height="{_HEIGHT}" rx="4" '
            f'fill={quoteattr(box.fill)} stroke="#555"/>{band}'
            f'<text x="{x:g}" y="{y + 26:g}">{escape(_end(box.name))}</text>'
            f'<text x="{place.x + WIDTH - 6:g}" y="{y + 13:g}" text-anchor="end">'
            f"{escape(box.note[:_MOST_LETTERS])}</text>"
            f'<text x="{x:g}" y="{y + 13:g}" font-weight="bold">'
            f"{escape(_start(box.type, _MOST_LETTERS - 4 - len(box.note)))}</text>"
            f'<text class="facts" x="{x:g}" y="{y + 38:g}" font-size="9">'
            f"{escape(_start(box.facts, _MOST_FACTS))}</text></g>"
        )


def _start(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(0, most - 1)] + "…"


def _end(name: str) -> str:
    """Return the name, or its end if it is too long; the ends differ within a block."""
    return name if len(name) <= _MOST_LETTERS else "…" + name[1 - _MOST_LETTERS :]


def _legend(legend: Sequence[LegendEntry]) -> Iterator[str]:
    for column, entry in enumerate(legend):
        x = _MARGIN + column * WIDTH
        for number, fill in enumerate(entry.fills):
            yield (
                f'<rect class="swatch" x="{x + number * _SWATCH}" y="{_MARGIN - 8}" '
                f'width="{_SWATCH}" height="{_SWATCH}" fill={quoteattr(fill)} stroke="#555"/>'
            )
        text_x = x + len(entry.fills) * _SWATCH + 6
        yield f'<text x="{text_x}" y="{_MARGIN + 3}">{escape(entry.text)}</text>'
