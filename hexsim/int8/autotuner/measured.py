"""How long prepared calls take on this machine."""

from __future__ import annotations

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
"""After a round that ends later nothing is repeated: a long layer needs no second look."""


def seconds_of(
    prepared: Sequence[PreparedCall],
    call: LoweredCall,
    clock: Callable[[], float] = time.thread_time,
) -> list[float]:
    """Return the shortest time of each of several ways to compute `call`, by `clock`.

    They take turns, so that each finds caches as the others leave them, in one thread, whose CPU
    time neighbours on the machine disturb least. The first turn compiles and does not count.
    """
    inputs = [np.full(x.shape, x.zero_point, x.encoding.dtype) for x in call.inputs]
    kind = call.output.encoding.dtype if call.output.bits == 8 else np.dtype(np.int32)
    output = np.empty(call.output.shape, kind)  # of 16 bits, kernels are asked for sums
    programs = [
        KernelCommandList(one.steps(inputs, output, Workspace()), threads=1) for one in prepared
    ]
    for program in programs:
        program.run()
    best = [math.inf] * len(programs)
    begun = clock()
    for _ in range(_ROUNDS):
        for at, program in enumerate(programs):
            start = clock()
            program.run()
            best[at] = min(best[at], clock() - start)
        if clock() - begun > _ENOUGH_S:
            break
    return best
