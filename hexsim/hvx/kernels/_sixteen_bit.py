"""16-bit activations: the cost of layers without streams for them.

Such a layer costs twice the packets, stalls and bytes of its 8-bit form, because a vector
holds half as many codes. This is exact for a loop whose instructions exist for halfwords (maximum
of a window) and an estimate for others (depthwise as two passes, lookups in a table of halfwords).
"""

import dataclasses

from hexsim.planning.plan import KernelCall
from hexsim.timing.work import NodeWork, Stage


def is_16bit(call: KernelCall) -> bool:
    """Tell whether the call computes with 16-bit codes."""
    return call.activation_bits > 8


def twice(work: NodeWork) -> NodeWork:
    """Return the work with twice the packets and bytes in every job, as a generic cost."""
    stages = tuple(map(twice_stage, work.stages))
    return NodeWork(stages, "generic", work.nodes, work.main_packets)


def twice_stage(stage: Stage) -> Stage:
    """Return the stage with twice the packets and bytes in every job."""
    slices = (
        dataclasses.replace(piece, items=tuple(item.times(2) for item in piece.items))
        for piece in stage.slices
    )
    return dataclasses.replace(stage, slices=tuple(slices))
