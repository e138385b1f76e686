"""Which loop runs for which window."""

from __future__ import annotations

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels.images import average_pool, max_pool
from hexsim.hvx.kernels.matrices import matrix_rows

V66 = HvxMachine(66)


@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_a_batch_is_computed_in_pairs(batch: int) -> None:
    loops = matrix_rows(V66, 4096, batch)
    macs = sum(kernel.cost.macs * times for kernel, times in loops)
    assert macs == batch * 4096 * 32
    assert sum(times for _, times in loops) == -(-batch // 2)


def test_windows_without_a_loop_of_their_own_cost_by_element() -> None:
    small, large = (max_pool(V66, (k, k), (1, 1)).cost.tile for k in (5, 10))
    assert 3 < large / small < 4.2
    assert max_pool(V66, (3, 3), (1, 1)).name != max_pool(V66, (3, 3), (3, 3)).name
    assert average_pool(V66, (3, 3), (1, 1)).pixels == 8
