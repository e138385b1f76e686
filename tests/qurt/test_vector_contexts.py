from __future__ import annotations

from hexsim.qurt.vector_contexts import VectorContexts
from hexsim.simtime import Environment


def contexts(count: int = 2) -> VectorContexts:
    return VectorContexts(Environment(), count)


def test_a_free_context_is_locked_at_once() -> None:
    hvx = contexts()
    assert hvx.lock(2, 10).triggered
    assert not hvx.lock(1, 0).triggered


def test_the_most_urgent_comes_first_and_among_equals_the_first() -> None:
    hvx = contexts(1)
    hvx.lock(1, 5)
    late, urgent, equal = hvx.lock(1, 7), hvx.lock(1, 3), hvx.lock(1, 7)
    order = []
    for _ in range(3):
        hvx.unlock(1)
        order.append([request.triggered for request in (late, urgent, equal)])
    assert order == [[False, True, False], [True, True, False], [True, True, True]]


def test_nobody_overtakes_a_more_urgent_request_for_more() -> None:
    hvx = contexts(2)
    hvx.lock(1, 5)
    both, one = hvx.lock(2, 3), hvx.lock(1, 4)
    assert (both.triggered, one.triggered) == (False, False)
    hvx.unlock(1)
    assert (both.triggered, one.triggered) == (True, False)


def test_a_try_lock_takes_what_is_free_or_nothing() -> None:
    hvx = contexts(2)
    assert hvx.try_lock(1)
    assert not hvx.try_lock(2)
    assert hvx.try_lock(1)
    assert not hvx.try_lock(1)
    hvx.unlock(2)
    assert hvx.try_lock(2)
