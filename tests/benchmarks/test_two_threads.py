"""Rounds count by how far apart the cores were all the while."""

from benchmarks.two_threads import FAR_NS, NEAR_NS, Round, round_trip_ns, row


def test_rounds_are_near_or_far_or_do_not_count():
    near, far = NEAR_NS - 50, FAR_NS + 100
    rounds = [Round(near, near, 1.5), Round(near, far, 9.0), Round(far, far, 1.25)]
    assert row("net", rounds) == "| net | 1.50 **1.50** 1.50 (1) | 1.25 **1.25** 1.25 (1) |"
    assert row("net", rounds[:1]).endswith("| - |")


def test_a_line_of_memory_comes_back():
    assert round_trip_ns() > 0
