"""Which software thread runs on which hardware thread.

1. The highest priorities among the ready threads run; among equals, whoever became ready first.
2. A running thread stays where it is until a more urgent one needs its place.
3. A thread goes to the hardware thread that still holds its registers, else to a free one in the
   cluster with the fewest running threads, to that which has been idle longest.
4. If none is free, the least urgent running thread makes room: so a displaced thread is always the
   one that the hardware's interrupt steering picks, and an interrupt handler is no special case.
5. A hardware thread that holds another thread's registers has to switch first.

Rule 3 is an assumption; nobody published QuRT's choice.

Sources: QuRT User Guide 80-VB419-178, section 4; interrupt steering: inferred.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.qurt.software import SoftwareThread


class HardwareThreads:
    """The hardware threads of a core: hardware thread k belongs to cluster k mod `clusters`."""

    def __init__(self, count: int, clusters: int) -> None:
        self._clusters = clusters
        self.running: list[SoftwareThread | None] = [None] * count
        self._registers: list[SoftwareThread | None] = [None] * count
        self._freed = [0] * count
        self._changes = 0

    def place(self, ready: Sequence[SoftwareThread]) -> list[int]:
        """Place `ready`, given as they became so; return the hardware threads that must switch."""
        chosen = sorted(ready, key=lambda thread: thread.priority)[: len(self.running)]
        self._changes += 1
        for place, thread in enumerate(self.running):
            if thread is not None and thread not in chosen:
                self.running[place] = None
                self._freed[place] = self._changes
        switching = []
        for thread in chosen:
            if thread in self.running:
                continue
            place = min(self._free(), key=lambda place: self._preference(thread, place))
            if self._registers[place] not in (None, thread):
                switching.append(place)
            self.running[place] = self._registers[place] = thread
        return switching

    def cluster(self, place: int) -> int:
        """The cluster of a hardware thread."""
        return place % self._clusters

    def is_alone(self, place: int) -> bool:
        """True if no other hardware thread of the same cluster runs anything."""
        return self._busy(self.cluster(place)) == 1

    def _free(self) -> list[int]:
        return [place for place, thread in enumerate(self.running) if thread is None]

    def _busy(self, cluster: int) -> int:
        """Running threads of a cluster."""
        return sum(thread is not None for thread in self.running[cluster :: self._clusters])

    def _preference(self, thread: SoftwareThread, place: int) -> tuple[bool, int, int, int]:
        is_strange = self._registers[place] is not thread
        return is_strange, self._busy(self.cluster(place)), self._freed[place], place
