"""Loads that share the DSP with a network: shipped ones, and files of the user.

A client releases a job every period. A job is `packets` of HVX or scalar work, split evenly among
its threads, and bytes that it moves at the same time; it is late if it ends after its deadline. A
file is a scenario, not data of hardware, so its numbers have no sources and their keys the units.
"""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, field

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf
from hexsim.datasheets.quantity import Text
from hexsim.texts.tables import Checked

SHORTEST_PERIOD_US = 10.0
"""Shortest period of jobs and interrupts, which limits them to 100 000 per simulated second."""


class Client(DatasheetTable):
    """One client: threads of QuRT priority `priority` (0 highest, which interrupts have).

    The first job is released `first_us` after the start. `deadline_us` counts from the release and
    is the period by default. An HVX client locks a vector context for each of its threads while a
    job runs; with `lock = "try"` it skips the job if they are not free at once. `interrupts` per
    period, evenly spaced, run handlers of `interrupt_packets`; the first one releases the job.
    """

    name: Text
    period_us: Annotated[float, Meta(ge=SHORTEST_PERIOD_US)]
    first_us: Annotated[float, Meta(ge=0)] = 0.0
    deadline_us: Annotated[float, Meta(gt=0)] | None = None
    priority: Annotated[int, Meta(ge=1, le=255)]
    unit: Literal["hvx", "scalar"]
    threads: Annotated[int, Meta(ge=1, le=16)] = 1
    packets: Annotated[int, Meta(ge=1)]
    scalar_multiplies: Annotated[int, Meta(ge=0)] = 0
    l2_bytes: Annotated[int, Meta(ge=0)] = 0
    ddr_bytes: Annotated[int, Meta(ge=0)] = 0
    lock: Literal["wait", "try"] = "wait"
    interrupts: Annotated[int, Meta(ge=0)] = 0
    interrupt_packets: Annotated[int, Meta(ge=1)] = 200

    def fault(self) -> str | None:
        """Return what is expected of interrupts that are a storm, and of a lock without a use."""
        if self.interrupts * SHORTEST_PERIOD_US > self.period_us:
            shortest = f"{SHORTEST_PERIOD_US:g}"
            return f"at most one of its {self.interrupts} interrupts in {shortest} us"
        if self.unit == "scalar" and self.lock != "wait":
            return "no lock on a scalar client, which needs no vector context"
        return None


def _names_differ(clients: tuple[Client, ...]) -> str | None:
    counts = Counter(client.name for client in clients)
    twice = next((name for name, count in counts.items() if count > 1), None)
    return None if twice is None else f"clients of different names, not '{twice}' twice"


class Background(Datasheet):
    """One file of clients."""

    clients: Annotated[tuple[Client, ...], Meta(min_length=1), Checked(_names_differ)] = field(
        name="client"
    )


_SHELF = Shelf(Background, "background load", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load
