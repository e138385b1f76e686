from __future__ import annotations

from hexsim.qurt.vector_contexts import VectorContexts
from hexsim.timing.simtime import Environment


def contexts(count: int = 2) -> VectorContexts:
    return VectorContexts(Environment(), count)


def test_a_free_context_is_locked_at_once() -> None:
    hvx = contexts()
    assert hvx.lock("a", 2, 10).triggered
    assert not hvx.lock("b", 1, 0).triggered


def test_the_most_urgent_comes_first_and_among_equals_the_first() -> None:
    hvx = contexts(1)
    hvx.lock("first", 1, 5)
    late, urgent, equal = hvx.lock("late", 1, 7), hvx.lock("urgent", 1, 3), hvx.lock("equal", 1, 7)
    order = []
    for holder in ("first", "urgent", "late"):
        hvx.unlock(holder)
        order.append([request.triggered for request in (late, urgent, equal)])
    assert order == [[False, True, False], [True, True, False], [True, True, True]]


def test_nobody_overtakes_a_more_urgent_request_for_more() -> None:
    hvx = contexts(2)
    hvx.lock("one", 1, 5)
    assert hvx.try_lock("other", 1)
    both, single = hvx.lock("both", 2, 3), hvx.lock("late", 1, 4)
    assert (both.triggered, single.triggered) == (False, False)
    hvx.unlock("one")
    assert (both.triggered, single.triggered) == (False, False)
    hvx.unlock("other")
    assert (both.triggered, single.triggered) == (True, False)


def test_a_try_lock_takes_what_is_free_or_nothing() -> None:
    hvx = contexts(2)
    assert hvx.try_lock("a", 1)
    assert not hvx.try_lock("b", 2)
    assert hvx.try_lock("b", 1)
    assert not hvx.try_lock("c", 1)
    hvx.unlock("a")
    hvx.unlock("b")
    assert hvx.try_lock("c", 2)


def test_the_holders_of_the_contexts_are_reported_at_every_change() -> None:
    hvx, heard = contexts(3), []
    hvx.on_change = lambda holders: heard.append(list(holders))
    hvx.lock("a", 1, 0)
    hvx.lock("b", 2, 0)
    hvx.lock("c", 1, 0)
    hvx.unlock("a")
    assert heard == [["a", None, None], ["a", "b", "b"], [None, "b", "b"], ["c", "b", "b"]]
