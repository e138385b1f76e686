"""Which loop runs for which window."""

from __future__ import annotations

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels.images import pooling_loops
from hexsim.hvx.kernels.matrices import matrix_rows

V66 = HvxMachine(66)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_a_batch_is_computed_in_pairs(batch: int) -> None:
    loops = matrix_rows(V66, 4096, batch)
    macs = sum(kernel.cost.macs * times for kernel, times in loops)
    assert macs == batch * 4096 * 32
    assert sum(times for _, times in loops) == -(-batch // 2)


def test_averages_without_a_loop_of_their_own_cost_by_element() -> None:
    small, large = (pooling_loops(V66, "average", (k, k), (1, 1))[0].cost.tile for k in (5, 10))
    assert 3 < large / small < 4.2


def test_maxima_without_a_loop_of_their_own_cost_by_row_and_column() -> None:
    (across, down), (wide, high) = (pooling_loops(V66, "max", (k, k), (1, 1)) for k in (5, 13))
    assert [across.pixels, down.pixels] == [2, 4]
    assert high.cost.l2_vectors == down.cost.l2_vectors + 8
    assert wide.cost.l2_vectors == across.cost.l2_vectors + 4, "four columns in a vector"
    assert len(pooling_loops(V66, "max", (3, 3), (1, 1))) == 1
    assert len(pooling_loops(V66, "max", (3, 3), (3, 3))) == 2
    assert pooling_loops(V66, "average", (3, 3), (1, 1))[0].pixels == 8
