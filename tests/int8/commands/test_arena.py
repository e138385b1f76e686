"""Tensors that are needed at the same time never share memory; others may."""

from hypothesis import given
from hypothesis import strategies as st

from hexsim.int8.commands.arena import Life, place
from hexsim.int8.machine_code.memory import ALIGNMENT, whole_lines

LIVES = st.builds(
    lambda size, first, length: Life(size, first, first + length),
    st.integers(0, 1000),
    st.integers(0, 12),
    st.integers(0, 4),
)


@given(st.lists(LIVES, max_size=12))
def test_no_two_that_meet_overlap(drawn: list[Life]) -> None:
    lives = {str(at): life for at, life in enumerate(drawn)}
    starts, total = place(lives)
    for name, life in lives.items():
        assert starts[name] % ALIGNMENT == 0
        assert 0 <= starts[name] <= starts[name] + life.bytes <= total
        for other, neighbour in lives.items():
            if other != name and life.meets(neighbour):
                ends = starts[name] + life.bytes, starts[other] + neighbour.bytes
                assert ends[0] <= starts[other] or ends[1] <= starts[name]
    assert total <= sum(whole_lines(life.bytes) for life in drawn)


def test_a_chain_needs_two_neighbours() -> None:
    lives = {str(at): Life(640, at, at + 1) for at in range(9)}
    assert place(lives)[1] == 2 * 640


def test_what_is_kept_shares_with_nobody() -> None:
    lives = {"kept": Life(64, 0, 9), **{str(at): Life(128, at, at) for at in range(1, 9)}}
    starts, total = place(lives)
    assert total == 64 + 128
    assert all(starts[name] != starts["kept"] for name in lives if name != "kept")
