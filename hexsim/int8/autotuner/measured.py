"""How long prepared calls take on this machine."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from hexsim.int8.commands.command_list import KernelCommandList
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.step import Workspace
from hexsim.lowering.lowered_call import LoweredCall

_ROUNDS = 9
_ENOUGH_S = 0.01
"""No round follows one that ends later than this: a long layer needs no second measurement."""


def seconds_of(
    prepared: Sequence[PreparedCall],
    call: LoweredCall,
    clock: Callable[[], float] = time.thread_time,
) -> list[float]:
    """Return the shortest time of each of several ways to compute `call`, by `clock`.

    They take turns, so that each finds the caches as the others leave them, and run in one thread,
    whose CPU time other programs disturb least. The first turn compiles and does not count.
    """
    inputs = [np.full(x.shape, x.zero_point, x.encoding.dtype) for x in call.inputs]
    kind = call.output.encoding.dtype if call.output.bits == 8 else np.dtype(np.int32)
    output = np.empty(call.output.shape, kind)  # kernels write sums for 16-bit outputs
    command_lists = [
        KernelCommandList(way.steps(inputs, output, Workspace()), threads=1) for way in prepared
    ]
    for commands in command_lists:
        commands.run()
    best = [math.inf] * len(command_lists)
    first_start = clock()
    for _ in range(_ROUNDS):
        for index, commands in enumerate(command_lists):
            start = clock()
            commands.run()
            best[index] = min(best[index], clock() - start)
        if clock() - first_start > _ENOUGH_S:
            break
    return best
