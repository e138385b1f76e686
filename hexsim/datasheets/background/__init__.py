"""Loads that share the DSP with a network: shipped ones, and files of the user.

A client releases a job every period. A job is `packets` of HVX or scalar work, split evenly among
its threads, and bytes that it moves at the same time; it is late if it ends after its deadline. A
file is a scenario, not data of hardware, so its numbers have no sources and their keys the units.
"""

from collections import Counter
from pathlib import Path
from typing import Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf

SHORTEST_PERIOD_US = 10.0
"""Shortest period of jobs and interrupts, which limits them to 100 000 per simulated second."""


class Client(DatasheetTable):
    """One client: threads of QuRT priority `priority` (0 highest, which interrupts have).

    The first job is released `first_us` after the start. `deadline_us` counts from the release and
    is the period by default. An HVX client locks a vector context for each of its threads while a
    job runs; with `lock = "try"` it skips the job if they are not free at once. `interrupts` per
    period, evenly spaced, run handlers of `interrupt_packets`; the first one releases the job.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    name: str = Field(min_length=1)
    period_us: float = Field(ge=SHORTEST_PERIOD_US)
    first_us: float = Field(default=0.0, ge=0)
    deadline_us: float | None = Field(default=None, gt=0)
    priority: int = Field(ge=1, le=255)
    unit: Literal["hvx", "scalar"]
    threads: int = Field(default=1, ge=1, le=16)
    packets: int = Field(ge=1)
    scalar_multiplies: int = Field(default=0, ge=0)
    l2_bytes: int = Field(default=0, ge=0)
    ddr_bytes: int = Field(default=0, ge=0)
    lock: Literal["wait", "try"] = "wait"
    interrupts: int = Field(default=0, ge=0)
    interrupt_packets: int = Field(default=200, ge=1)

    @model_validator(mode="after")
    def _interrupts_are_no_storm(self) -> Self:
        if self.interrupts * SHORTEST_PERIOD_US > self.period_us:
            raise PydanticCustomError(
                "interrupts",
                "expected at most one of its {count} interrupts in {shortest} us",
                {"count": self.interrupts, "shortest": f"{SHORTEST_PERIOD_US:g}"},
            )
        return self

    @model_validator(mode="after")
    def _only_hvx_locks(self) -> Self:
        if self.unit == "scalar" and "lock" in self.model_fields_set:
            raise PydanticCustomError(
                "lock", "expected no lock on a scalar client, which needs no vector context"
            )
        return self


class Background(Datasheet):
    """One file of clients."""

    clients: tuple[Client, ...] = Field(alias="client", min_length=1)

    @field_validator("clients")
    @classmethod
    def _names_differ(cls, clients: tuple[Client, ...]) -> tuple[Client, ...]:
        for name, count in Counter(client.name for client in clients).items():
            if count > 1:
                raise PydanticCustomError(
                    "names",
                    "expected clients of different names, not '{name}' twice",
                    {"name": name},
                )
        return clients


_SHELF = Shelf(Background, "background load", Path(__file__).parent)
names, load = _SHELF.names, _SHELF.load
