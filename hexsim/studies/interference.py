"""How background clients slow down a network, and how the network slows them down.

The network runs ten times in a row beside the clients, so that slow clients meet it too; once
without them; and the clients run without it for as long.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from hexsim.deployment.platform import Platform
from hexsim.simulation.simulator import Workload, clients_alone
from hexsim.timing.results import ClientTiming, InferenceTiming, Result

QUEUED_INFERENCES = 10
"""Inferences in a row beside the clients."""


@dataclass(frozen=True)
class Slowdown:
    """A layer, an overhead or the whole: picoseconds alone and beside the clients (mean)."""

    name: str
    alone_ps: int
    beside_ps: float

    @property
    def factor(self) -> float:
        """Time beside the clients over time alone; infinite for parts that need clients."""
        return self.beside_ps / self.alone_ps if self.alone_ps else float("inf")


@dataclass(frozen=True)
class Interference:
    """`names` of the loads; the network alone and beside them; the clients without the network."""

    names: tuple[str, ...]
    alone: Result
    beside: Result
    clients_alone: tuple[ClientTiming, ...]

    @property
    def total(self) -> Slowdown:
        """The whole inference."""
        beside = fmean(inference.total_ps for inference in self.beside.inferences)
        return Slowdown("total inference", self.alone.total_ps, beside)

    @property
    def worst_ps(self) -> int:
        """The longest inference beside the clients."""
        return max(inference.total_ps for inference in self.beside.inferences)

    @property
    def parts(self) -> tuple[Slowdown, ...]:
        """Every layer, then every overhead, by name."""
        alone = _by_name(self.alone.inferences[0])
        beside = [_by_name(inference) for inference in self.beside.inferences]
        names = dict.fromkeys([*alone, *(name for parts in beside for name in parts)])
        return tuple(
            Slowdown(name, alone.get(name, 0), fmean(parts.get(name, 0) for parts in beside))
            for name in names
        )

    @property
    def clients(self) -> Iterator[tuple[ClientTiming, ClientTiming]]:
        """Each client without and with the network."""
        return zip(self.clients_alone, self.beside.clients, strict=True)


def interference(platform: Platform, workload: Workload) -> Interference:
    """Compare a workload of one inference with and without its background clients.

    Raises HexsimError if the chip has no DSP, or the clients starve the network.
    """
    queue = tuple(replace(job, count=QUEUED_INFERENCES) for job in workload.jobs)
    beside = platform.simulate(replace(workload, jobs=queue))
    alone = platform.simulate(replace(workload, background=()))
    end_ps = max(inference.end_ps for inference in beside.inferences)
    return Interference(
        tuple(load.name for load in workload.background),
        alone,
        beside,
        clients_alone(workload, platform.chip, platform.stack, end_ps),
    )


def _by_name(inference: InferenceTiming) -> dict[str, int]:
    """Durations of layers and overheads; an overhead that comes twice counts as one."""
    times = {layer.name: layer.duration_ps for layer in inference.layers}
    for part in inference.overheads:
        name = f"({part.name})"
        times[name] = times.get(name, 0) + part.duration_ps
    return times
