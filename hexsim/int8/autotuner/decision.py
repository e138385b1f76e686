"""Which of several algorithms computes a layer: instructions counted, then time measured.

1. Instructions are estimated for each; those that cannot be the fastest drop out. Most layers have
   one left.
2. The others are timed here, on the layer's own shape with its own packed weights, one after the
   other in turns. The result is kept (`choice.kept`), so a later run chooses the same.

Values never depend on the choice. HEXSIM_KERNELS takes it away: the algorithm it names is used
wherever the CPU and the layer admit it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hexsim.int8.algorithm import Name
from hexsim.int8.autotuner.cache import AutotunerCache
from hexsim.int8.prepared import PreparedCall

DOUBT = 1.15
"""Calibrated: of the convolutions of four networks in three modes of weights, those where counting
often names the slower of `pairs` and `guarded` lie within it."""


@dataclass(frozen=True)
class AlgorithmCandidate:
    """An algorithm that computes a layer.

    `instructions` are those it takes at best, in a unit that all candidates for the layer share.
    `counted`, dearer to ask, returns those it does take where the weights decide. `doubt` is the
    factor by which its time may be longer than they tell, beside the others'. `prepare` packs the
    weights.
    """

    name: Name
    instructions: float
    prepare: Callable[[], PreparedCall]
    counted: Callable[[], float] | None = None
    doubt: float = DOUBT


def choose(
    candidates: Sequence[AlgorithmCandidate],
    layer: str,
    measure: Callable[[Sequence[PreparedCall]], Sequence[float]],
    kept: AutotunerCache,
) -> PreparedCall:
    """Return the layer as the fastest of `candidates` prepared it.

    `layer` tells all that decides the time but the instructions; `measure` returns seconds for
    each. Packed weights of those that lose are let go of.
    """
    near = _near_best(candidates)
    if len(near) == 1:
        return near[0][0].prepare()
    question = f"{layer}: " + ", ".join(f"{one.name} {count:.2f}" for one, count in near)
    known = kept.answer(question)
    for one, _ in near:
        if one.name == known:
            return one.prepare()
    prepared = [one.prepare() for one, _ in near]
    seconds = measure(prepared)
    fastest = min(range(len(near)), key=lambda at: seconds[at])
    names = [one.name for one, _ in near]
    times = (f"{name} {1e6 * time:.1f} us" for name, time in zip(names, seconds, strict=True))
    kept.keep(question, names[fastest], ", ".join(times))
    return prepared[fastest]


def _near_best(candidates: Sequence[AlgorithmCandidate]) -> list[tuple[AlgorithmCandidate, float]]:
    """Those that may be the fastest, and their instructions."""
    bound = math.inf
    counted = []
    for one in sorted(candidates, key=lambda one: one.instructions):
        if one.instructions > bound:
            break
        count = one.counted() if one.counted else one.instructions
        bound = min(bound, count * one.doubt)
        counted.append((one, count))
    return [(one, count) for one, count in counted if count <= bound]
