"""What a loop waits for that does not load ahead: operands in L2, and operands in DDR."""

from collections.abc import Sequence
from dataclasses import replace

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels._blocking import cut_evenly
from hexsim.hvx.layout import VECTOR_BYTES, stored_bytes
from hexsim.timing.work import Stage, WorkItem


def waiting_for_l2(stage: Stage, operands: int, slots: float) -> Stage:
    """Return the stage whose loop waits `slots` for each of its `operands` of every vector.

    The loop reads its operands and writes one vector.
    """
    if not slots:
        return stage

    def waiting(item: WorkItem) -> WorkItem:
        loads = item.l2_bytes // VECTOR_BYTES * operands // (operands + 1)
        return replace(item, stalls=item.stalls + round(loads * slots))

    return _with_items(stage, [waiting(item) for item in stage.items])


def without_prefetch(stage: Stage, missing_bytes: int) -> Stage:
    """Return the stage on one worker, whose own loads bring `missing_bytes` from DDR."""
    items = list(stage.items)
    shares = cut_evenly(missing_bytes, [item.packets for item in items])
    missing = [
        replace(item, missing_bytes=share) for item, share in zip(items, shares, strict=True)
    ]
    slices = tuple(replace(piece, read_bytes=0) for piece in stage.slices)
    return _with_items(replace(stage, slices=slices, threads=1), missing)


def missing_bytes(operands: Sequence[Shape], result: Shape, read_bytes: int, l2_bytes: int) -> int:
    """Return the bytes of operands that are not in L2 when a loop comes to them.

    The operands were written in the order in which they are read. Each line of the result evicts
    the line that was used longest ago: once L2 is full, that is the one to be read next, whose
    return evicts the next, and so on. `read_bytes` are missing before the loop begins.
    """
    size, written = sum(map(stored_bytes, operands)), stored_bytes(result)
    room = max(0, l2_bytes - size)
    evicted = size * max(0, written - room) // max(1, written)
    return max(read_bytes, evicted)


def _with_items(stage: Stage, items: Sequence[WorkItem]) -> Stage:
    each = iter(items)
    return replace(
        stage,
        slices=tuple(
            replace(piece, items=tuple(next(each) for _ in piece.items)) for piece in stage.slices
        ),
    )
