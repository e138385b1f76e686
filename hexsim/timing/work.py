"""Work items: the unit that simulated time moves.

A kernel model turns one layer into a `NodeWork`: stages that run one after another, each a queue
of slices. A slice is the bytes of one prefetch from DDR and the jobs that need them; a job is one
call of a worker thread. A layer has tens of jobs; there is no event per packet.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from hexsim.records import dataclass, replace

CostModel = Literal["kernel", "tiles", "generic", "analytic", "user", "none"]
"""How the cost of a layer was calculated: scheduled kernel loops, tiles of the tensor engine, the
generic model of moved bytes and elementwise operations, the roofline of CPU or GPU, the cost that
the user states for a user-defined layer, or not at all."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One call of a thread: packets to issue and the bytes they move in L2 and VTCM.

    `stalls` are issue slots that its schedule leaves empty because a result is not ready.
    `scalar_fed` counts the packets of loops whose vector multiplies take operands of scalar loads,
    and therefore wait for memory. `vector` is False for work of the
    scalar units, which may run faster when the neighbouring hardware thread is idle.
    `scalar_multiplies` counts its uses of a scalar multiplier (integer or float). `missing_bytes`
    are operands that nobody prefetches: its own loads bring them from DDR, one line at a time.
    `read_bytes` are operands that the thread itself prefetches while it computes.
    """

    packets: int
    stalls: int = 0
    scalar_fed: int = 0
    l2_bytes: int = 0
    vtcm_bytes: int = 0
    vector: bool = True
    scalar_multiplies: int = 0
    missing_bytes: int = 0
    read_bytes: int = 0

    def __add__(self, other: WorkItem) -> WorkItem:
        """Return both in one call of a thread, on the units of the first."""
        return WorkItem(
            packets=self.packets + other.packets,
            stalls=self.stalls + other.stalls,
            scalar_fed=self.scalar_fed + other.scalar_fed,
            l2_bytes=self.l2_bytes + other.l2_bytes,
            vtcm_bytes=self.vtcm_bytes + other.vtcm_bytes,
            vector=self.vector,
            scalar_multiplies=self.scalar_multiplies + other.scalar_multiplies,
            missing_bytes=self.missing_bytes + other.missing_bytes,
            read_bytes=self.read_bytes + other.read_bytes,
        )

    def times(self, factor: float) -> WorkItem:
        """Return `factor` times the work."""
        return WorkItem(
            packets=round(self.packets * factor),
            stalls=round(self.stalls * factor),
            scalar_fed=round(self.scalar_fed * factor),
            l2_bytes=round(self.l2_bytes * factor),
            vtcm_bytes=round(self.vtcm_bytes * factor),
            vector=self.vector,
            scalar_multiplies=round(self.scalar_multiplies * factor),
            missing_bytes=round(self.missing_bytes * factor),
            read_bytes=round(self.read_bytes * factor),
        )


@dataclass(frozen=True, slots=True)
class Slice:
    """One prefetch and the jobs that wait for it; `write_bytes` go back to DDR after them."""

    items: tuple[WorkItem, ...]
    read_bytes: int = 0
    write_bytes: int = 0

    def times(self, factor: float) -> Slice:
        """Return `factor` times the work."""
        items = tuple(item.times(factor) for item in self.items)
        return Slice(items, round(self.read_bytes * factor), round(self.write_bytes * factor))


@dataclass(frozen=True, slots=True)
class Stage:
    """Slices in the order of their prefetch, shared by up to `threads` workers, then a join.

    Slice k is fetched once the jobs of slice k - `buffers` have freed their buffer. `streams` are
    the transfers that are under way at the same time: one if a thread prefetches for all, more if
    each worker prefetches its own rows. copied: they are copies to VTCM, which a unit of its own
    makes.
    """

    slices: tuple[Slice, ...]
    threads: int
    buffers: int = 2
    streams: int = 1
    copied: bool = False

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return sum(len(piece.items) for piece in self.slices)

    @property
    def items(self) -> Iterable[WorkItem]:
        """All jobs in queue order."""
        return (item for piece in self.slices for item in piece.items)


@dataclass(frozen=True)
class NodeWork:
    """One layer on the DSP, which the runtime runs as `nodes` graph nodes.

    main_packets: scalar code of the layer that the main thread runs before the stages, beyond the
    execution of a node, which is the same for every layer. fetched_early: the node before it
    starts the prefetch of its first slices.
    """

    stages: tuple[Stage, ...]
    cost_model: CostModel
    nodes: int = 1
    main_packets: int = 0
    fetched_early: bool = False

    def times(self, factor: float) -> NodeWork:
        """Return `factor` times the work, executed as often."""
        if factor == 1:
            return self
        stages = tuple(
            replace(stage, slices=tuple(piece.times(factor) for piece in stage.slices))
            for stage in self.stages
        )
        return replace(self, stages=stages, main_packets=round(self.main_packets * factor))

    @property
    def items(self) -> Iterable[WorkItem]:
        """Jobs of all stages."""
        return (item for stage in self.stages for item in stage.items)

    @cached_property
    def packets(self) -> int:
        """Packets of all jobs."""
        return sum(item.packets for item in self.items)

    @cached_property
    def vector_packets(self) -> int:
        """Packets of the jobs that hold a vector context."""
        return sum(item.packets for item in self.items if item.vector)

    @cached_property
    def l2_bytes(self) -> int:
        """Bytes through the L2 port."""
        return sum(item.l2_bytes for item in self.items)

    @cached_property
    def vtcm_bytes(self) -> int:
        """Bytes read and written in VTCM."""
        return sum(item.vtcm_bytes for item in self.items)

    @cached_property
    def read_bytes(self) -> int:
        """Bytes from DDR, prefetched or waited for."""
        prefetched = sum(piece.read_bytes for stage in self.stages for piece in stage.slices)
        return prefetched + sum(item.read_bytes + item.missing_bytes for item in self.items)

    @cached_property
    def write_bytes(self) -> int:
        """Bytes to DDR."""
        return sum(piece.write_bytes for stage in self.stages for piece in stage.slices)
