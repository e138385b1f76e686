"""Packets of dense convolutions around their loops: the C code and the sums of activations.

The streams have the loops over taps and the end of a tile. Here is what the hand-written kernels
take beyond that, because they begin the next tile after the store; what a row of a slice and a call
take; and the sums of the integral image, by which kernels with unsigned weights subtract the zero
point of the weights.

Source: Hexagon NN, hexagon/asm_src (gvconv2dbbb_*.S, gvint_h.S, gvsuma_h.S, ivint_h.S,
inconv2dbbb*.S) and op_supernode_new.c for the loops; packets that the source does not
determine are those of tests/hexagon_nn/packets.
"""

from hexsim.hvx.layout import ceil_div
from hexsim.records import dataclass

_INTEGRAL_LANES, _SUMMED_PIXELS = 32, 8
"""Sums of one vector of the integral image, and pixels summed at once (gvint_h.S; documented)."""
_LEFT, _FIRST_BESIDE = 5, 8
"""Columns of the integral image beside the activations: left of them the padding and a column of
zeros, and of a first layer four on each side (gvint_h.S, ivint_h.S; documented)."""
_SUM_GROUP, _SUM_SLICE, _SUM_VECTOR, _SUM_ROW = 3, 2, 9, 33
"""Packets of a row of the integral image: of pixels summed at once, of each of their slices, of a
vector of sums added up along the row, and of the row (gvint_h.S; inferred)."""
_FIRST_SUM_VECTOR = 7
"""Packets of a vector of the integral image of a first layer (ivint_h.S; inferred)."""
_WINDOW_VECTOR, _WINDOW_ROW = 3, 7
"""Packets of a vector of sums of windows after the first, and of a row (gvsuma_h.S; inferred)."""
_TAP_PAIR, _STREAM_TAP, _TAP_ROW = 4, 2, 1.5
"""Packets of a first layer: of two taps and of a row of taps (inconv2dbbb*.S; inferred), and what
the stream already has of each tap."""


@dataclass(frozen=True)
class Around:
    """Packets around the loops of a kernel family.

    tile: of each tile, plus `tile_row` for each row of taps. row: of each output row of a slice, or
    of a pair of slices. call: of a call of the kernel, with its share of the caller in C. job: of a
    work item.

    Documented packets are those of the sources named above; others are inferred from the counted
    packets of whole layers.
    """

    tile: float
    tile_row: float
    row: int
    call: int
    job: int

    def of_tile(self, depth_rows: int) -> int:
        """Return the packets of a tile with `depth_rows` rows of taps."""
        return round(self.tile + self.tile_row * depth_rows)


V60 = Around(tile=3, tile_row=0, row=11, call=35, job=200)
"""Kernels of V60 (documented; tiles and jobs inferred)."""
PAIR = Around(tile=10, tile_row=1, row=13, call=17 + 38, job=100)
"""Kernels of V65 for two slices (documented; tiles and jobs inferred)."""
SINGLE = Around(tile=16, tile_row=2, row=0, call=17 + 38, job=100)
"""Those for one slice (documented; tiles and jobs inferred)."""
BUFFERED_ROW = 13
"""Packets of V65 for an input row of a slice, copied to a buffer (repstream2_h.S; inferred)."""
V66 = Around(tile=0, tile_row=0, row=9, call=6, job=140)
"""Kernels of V66 (documented; tiles and jobs inferred)."""
V66_STEPS = Around(tile=5, tile_row=2, row=9, call=6, job=140)
"""The kernel for stride 2, which reads rows of taps one by one (documented; tiles and jobs
inferred)."""
V66_FOUR = Around(tile=0, tile_row=1, row=9, call=6, job=140)
"""The kernel for widths of whole vectors with padding: it begins between the pixels of a vector
(documented; tiles and jobs inferred)."""
FIRST = Around(tile=5, tile_row=0, row=14 + 20, call=80, job=0)
"""The kernel of a first layer (documented; tiles inferred)."""
FIRST_ROWS = 10
"""Output rows of a call of the first layer (source: op_supernode_new.c)."""
_FIRST_SUMS, _FIRST_ROW_IN = 40, 17
"""Packets of a call that sums an image, and of one of its rows (inferred from the counted ones)."""


def first_layer_tile(width: int, height: int, stride: int) -> int:
    """Return the packets of a tile of a first layer beyond the stream's.

    There is a hand-written loop for 3x3 with stride 2; the other one takes its taps in pairs, four
    packets for each.
    """
    if (width, height, stride) == (3, 3, 2):
        return FIRST.of_tile(height)
    row = _TAP_PAIR * ceil_div(width, 2) - _STREAM_TAP * width + _TAP_ROW
    return round(FIRST.tile + height * max(0.0, row))


def integral_row(width: int, depth: int) -> int:
    """Return the packets of a row of the integral image of `depth` slices.

    Eight pixels are summed over the slices in a loop of two packets a slice; 32 sums are then added
    up along the row.
    """
    vectors = ceil_div(width + _LEFT, _INTEGRAL_LANES)
    groups = vectors * (_INTEGRAL_LANES // _SUMMED_PIXELS) - 1
    summed = groups * (_SUM_GROUP + _SUM_SLICE * depth)
    return summed + _SUM_VECTOR * max(1, vectors - 1) + _SUM_ROW


def first_integral_row(width: int) -> int:
    """Return the packets of a row of the integral image of an image of four channels."""
    return _FIRST_SUM_VECTOR * ceil_div(width + _FIRST_BESIDE, _INTEGRAL_LANES)


def window_sums_row(vectors: int) -> int:
    """Return the packets that take the sums of the windows of an output row from the image."""
    return _WINDOW_VECTOR * (vectors - 1) + _WINDOW_ROW


def sums(rows_in: int, rows_out: int, width: int, depth: int) -> int:
    """Return the packets of all sums of a convolution with `depth` slices of input."""
    vectors = ceil_div(width + _LEFT, _INTEGRAL_LANES)
    return rows_in * integral_row(width, depth) + rows_out * window_sums_row(vectors)


def first_layer_sums(rows_in: int, rows_out: int, width: int, calls: int) -> int:
    """Return the packets of the sums of an image, whose windows are taken at every column."""
    vectors = ceil_div(width + _FIRST_BESIDE, _INTEGRAL_LANES)
    row_in = first_integral_row(width) + _FIRST_ROW_IN
    return rows_in * row_in + rows_out * window_sums_row(vectors) + _FIRST_SUMS * calls
