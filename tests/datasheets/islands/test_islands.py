"""The shipped islands: whose they are, and that a cheap end is cheaper."""

import pytest
from msgspec import structs

from hexsim.datasheets import chips, islands
from hexsim.errors import HexsimError


def test_every_chip_has_one_island_at_most_and_exists() -> None:
    listed = [chip for name in islands.names() for chip in islands.load(name).chips]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(chips.names())


def test_ends_move_what_software_takes_and_leave_the_hardware() -> None:
    island = islands.island_of(chips.load("sd855"))
    low, high = island.at_low(), island.at_high()
    assert low.packets_per_mac < island.packets_per_mac < high.packets_per_mac
    assert low.wake_s < island.wake_s < high.wake_s
    assert low.memory_bytes == island.memory_bytes == high.memory_bytes
    assert low.clocks_hz == high.clocks_hz


def test_a_chip_without_a_known_island_is_refused_and_one_like_another_has_its_island() -> None:
    own = structs.replace(chips.load("sd835"), name="mine")
    with pytest.raises(HexsimError, match=r"island of chip mine is known; take one of sd820"):
        islands.island_of(own)
    like = structs.replace(own, like="sd855")
    assert islands.island_of(like).name == "slpi"
