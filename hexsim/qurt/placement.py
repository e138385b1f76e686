"""Which software thread runs on which hardware thread.

1. The ready threads of the highest priorities run; among equals, those that became ready first.
2. A running thread stays where it is until a more urgent one needs its place.
3. A thread runs on the hardware thread that still holds its registers, otherwise on a free one in
   the cluster with the fewest running threads; among these, on the one that is idle longest.
4. If none is free, the least urgent running thread is preempted. The interrupt steering of the
   hardware makes the same choice, so an interrupt handler needs no special case.
5. A hardware thread that holds another thread's registers has to switch first.

Rule 3 is an assumption, because QuRT's choice is not published.

Sources: QuRT User Guide 80-VB419-178, section 4; interrupt steering: inferred.
"""

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
        """Place `ready`, in the order they became so; return hardware threads that switch."""
        if self._runs_just(ready):
            return []
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
            place = self._best(thread)
            if self._registers[place] not in (None, thread):
                switching.append(place)
            self.running[place] = self._registers[place] = thread
        return switching

    def _runs_just(self, ready: Sequence[SoftwareThread]) -> bool:
        """Tell whether exactly the ready threads are running, so that no thread moves."""
        count = len(self.running) - self.running.count(None)
        return count == len(ready) and all(thread in self.running for thread in ready)

    def cluster(self, place: int) -> int:
        """Return the cluster of a hardware thread."""
        return place % self._clusters

    def is_alone(self, place: int) -> bool:
        """Tell whether the other hardware threads of the same cluster are idle."""
        return self._busy(self.cluster(place)) == 1

    def _busy(self, cluster: int) -> int:
        """Return the number of running threads of a cluster."""
        return sum(thread is not None for thread in self.running[cluster :: self._clusters])

    def _best(self, thread: SoftwareThread) -> int:
        """Return the free hardware thread that rule 3 chooses."""
        free = [place for place, occupant in enumerate(self.running) if occupant is None]
        own = [place for place in free if self._registers[place] is thread]
        return own[0] if len(own) == 1 else min(own or free, key=self._preference)

    def _preference(self, place: int) -> tuple[int, int, int]:
        return self._busy(self.cluster(place)), self._freed[place], place
