"""Memory begins and ends cache lines."""

from hexsim.int8.machine_code.memory import aligned, whole_lines


def test_memory_begins_a_cache_line() -> None:
    assert [aligned(size).ctypes.data % 64 for size in (1, 63, 1000)] == [0] * 3
    assert [aligned(size).size for size in (0, 1, 1000)] == [0, 1, 1000]


def test_sizes_are_rounded_up() -> None:
    assert [whole_lines(size) for size in (0, 1, 64, 65)] == [0, 64, 64, 128]
