"""What packet slots hold, beside a table that asks about every packet anew."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import fits
from hexsim.hvx.reservations import ReservationTable, Wants, empty

MACHINES = {version: HvxMachine(version) for version in (60, 66)}


class SlowTable:
    """The names in each slot, sorted and asked about each time."""

    def __init__(self, machine: HvxMachine, period: int | None) -> None:
        self.machine, self.period = machine, period
        self.rows: dict[int, Counter[str]] = {}

    def rows_of(self, slot: int, wants: Wants) -> list[tuple[int, str]]:
        """Each name with the row it would take."""
        rows = ((slot + k) % self.period if self.period else slot + k for k in range(len(wants)))
        return [(row, name) for row, names in zip(rows, wants, strict=True) for name in names]

    def has_room(self, slot: int, wants: Wants) -> bool:
        """True if each packet it touches can still be issued."""
        packets = {row: Counter(self.rows.get(row, ())) for row, _ in self.rows_of(slot, wants)}
        for row, name in self.rows_of(slot, wants):
            packets[row][name] += 1
        return all(
            fits(self.machine, tuple(sorted(packet.elements()))) for packet in packets.values()
        )

    def change(self, slot: int, wants: Wants, by: int) -> None:
        """Put a node in, or take it out."""
        for row, name in self.rows_of(slot, wants):
            self.rows.setdefault(row, Counter())[name] += by


def nodes(machine: HvxMachine) -> st.SearchStrategy[Wants]:
    """One or two packets with a few instructions each."""
    names = st.lists(st.sampled_from(sorted(machine.classes)), min_size=1, max_size=2)
    return st.lists(names.map(tuple), min_size=1, max_size=2).map(tuple)


@pytest.mark.parametrize("version", MACHINES)
@pytest.mark.parametrize("period", [None, 1, 3])
@given(data=st.data())
def test_room_is_what_asking_anew_finds(
    version: int, period: int | None, data: st.DataObject
) -> None:
    machine = MACHINES[version]
    table, slow = ReservationTable(machine, period), SlowTable(machine, period)
    placed: list[tuple[int, Wants]] = []
    for wants in data.draw(st.lists(nodes(machine), max_size=12)):
        for slot in range(5):
            assert table.has_room(slot, wants) == slow.has_room(slot, wants)
        slot = table.first(range(5), wants)
        if slot is not None:
            table.add(slot, wants)
            slow.change(slot, wants, 1)
            placed.append((slot, wants))
        elif placed:
            out = placed.pop(data.draw(st.integers(0, len(placed) - 1)))
            table.remove(*out)
            slow.change(*out, -1)


def test_equal_fillings_are_one() -> None:
    start = empty(MACHINES[66])
    first, second = sorted(MACHINES[66].classes)[:2]
    both = start.joined((first,)).joined((second,))
    assert both is start.joined((second, first))
    assert both.parted((first, second)) is start
