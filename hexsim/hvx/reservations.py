"""The classes of instructions in each packet slot of an incomplete schedule.

The contents of a packet are a state of an automaton, as in LLVM's packetizer: `fits` is called once
per state, and a dictionary holds the next state when instructions are added.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.packets import fits

Wants = tuple[tuple[str, ...], ...]
"""Class names of all instructions of a node, for each packet from its start on."""


class PacketContents:
    """The classes of a packet (sorted names); `fit` tells whether they can share it."""

    def __init__(
        self,
        machine: HvxMachine,
        names: tuple[str, ...],
        known: dict[tuple[str, ...], PacketContents],
    ):
        self.machine = machine
        self.names = names
        self.fit = fits(machine, names)
        self._known = known  # all fillings of the machine, by names
        self._joined: dict[tuple[str, ...], PacketContents] = {}

    def joined(self, names: tuple[str, ...]) -> PacketContents:
        """Return the contents with these classes added."""
        filling = self._joined.get(names)
        if filling is None:
            filling = self._joined[names] = self._other(tuple(sorted(self.names + names)))
        return filling

    def parted(self, names: tuple[str, ...]) -> PacketContents:
        """Return the contents without these classes."""
        remaining = list(self.names)
        for name in names:
            remaining.remove(name)
        return self._other(tuple(remaining))

    def _other(self, names: tuple[str, ...]) -> PacketContents:
        if names not in self._known:
            self._known[names] = PacketContents(self.machine, names, self._known)
        return self._known[names]


@cache
def empty(machine: HvxMachine) -> PacketContents:
    """Return the empty packet of a machine."""
    known: dict[tuple[str, ...], PacketContents] = {}
    return known.setdefault((), PacketContents(machine, (), known))


class ReservationTable:
    """The contents of each packet slot; in a loop slots repeat every `period`."""

    def __init__(self, machine: HvxMachine, period: int | None = None):
        self.period = period or sys.maxsize  # straight code is a loop that never repeats
        self.empty = empty(machine)
        self.rows: dict[int, PacketContents] = {}

    def has_room(self, slot: int, wants: Wants) -> bool:
        """Tell whether a node of these classes could start in a slot."""
        if len(wants) == 1:  # the usual case
            return self.rows.get(slot % self.period, self.empty).joined(wants[0]).fit
        fillings: dict[int, PacketContents] = {}
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            fillings[row] = (fillings.get(row) or self.rows.get(row, self.empty)).joined(names)
        return all(filling.fit for filling in fillings.values())

    def first(self, slots: Iterable[int], wants: Wants) -> int | None:
        """Return the first of these slots in which a node of these classes could start."""
        return next((slot for slot in slots if self.has_room(slot, wants)), None)

    def add(self, slot: int, wants: Wants) -> None:
        """Add a node in a slot."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows.get(row, self.empty).joined(names)

    def remove(self, slot: int, wants: Wants) -> None:
        """Remove a node from a slot."""
        for k, names in enumerate(wants):
            row = (slot + k) % self.period
            self.rows[row] = self.rows[row].parted(names)
