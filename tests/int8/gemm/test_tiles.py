import numpy as np
import pytest

from hexsim.int8.gemm import tiled_product
from hexsim.int8.gemm.tiles import PanelTable, pieces
from hexsim.int8.machine_code.inner_loops.microkernel import DOTS_512
from hexsim.int8.step import FIRST, LAST


@pytest.mark.parametrize(
    ("pixels", "panels", "expected"),
    [
        (49, 8, ((0, 49, FIRST, LAST), (8, 2))),
        (49, 2, ((FIRST, LAST, 0, 2), (49, 7))),
        (12544, 8, ((FIRST, LAST, 0, 8), (12544, 7))),
    ],
)
def test_threads_share_panels_where_pixels_are_few(pixels, panels, expected):
    assert pieces(pixels, panels, 7, 2) == expected


def test_the_table_has_a_row_for_each_panel_in_the_kernels_order():
    panel = np.arange(3)
    table = PanelTable(
        first=9 * panel, twos=4, ones=1, offsets=0, input=32 * panel, addends=0,
        column=16 * panel, rest=40 - 16 * panel,
    ).stacked(DOTS_512)  # fmt: skip
    assert table.dtype == np.int64
    assert table.flags.c_contiguous
    for column, name in enumerate(PanelTable._fields):
        assert getattr(tiled_product, name.upper()) == column
    assert table[2].tolist() == [18, 4, 1, 0, 64, 0, 32, 8, 1]
    assert table[:, tiled_product.TOGETHER].tolist() == [2, 2, 1]
