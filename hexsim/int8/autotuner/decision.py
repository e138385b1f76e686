"""Decides which algorithm computes a layer: by estimated instructions, then by measured time.

1. Instructions are estimated for each algorithm; those that cannot be the fastest are dropped. For
   most layers one is left.
2. The others are timed here, on the layer's own shape with its own packed weights, in turns. The
   result is cached (`autotuner.cache`), so that a later run chooses the same.

Values never depend on the choice. HEXSIM_KERNELS overrides it: the algorithm that it names is used
wherever the CPU and the layer admit it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hexsim.int8.algorithm import Name
from hexsim.int8.autotuner.cache import AutotunerCache
from hexsim.int8.prepared import PreparedCall

DOUBT = 1.15
"""Calibrated: for the convolutions of four networks in three modes of weights, those whose
estimates often name the slower of `pairs` and `guarded` lie within this factor."""


@dataclass(frozen=True)
class AlgorithmCandidate:
    """An algorithm that computes a layer.

    `instructions` are those it takes at best, in a unit that all candidates for the layer share.
    `counted`, which is expensive to call, returns those it takes if that depends on the weights.
    `doubt` is the factor by which its time may be longer than the instructions suggest, relative to
    the others. `prepare` packs the weights.
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
    cache: AutotunerCache,
) -> PreparedCall:
    """Return the layer as the fastest of `candidates` prepared it.

    `layer` says all that decides the time except the instructions; `measure` returns seconds for
    each prepared call. The packed weights of the other candidates are dropped.
    """
    contenders = _near_best(candidates)
    if len(contenders) == 1:
        return contenders[0][0].prepare()
    question = f"{layer}: " + ", ".join(
        f"{candidate.name} {count:.2f}" for candidate, count in contenders
    )
    answer = cache.answer(question)
    for candidate, _ in contenders:
        if candidate.name == answer:
            return candidate.prepare()
    prepared = [candidate.prepare() for candidate, _ in contenders]
    seconds = measure(prepared)
    fastest = min(range(len(contenders)), key=lambda index: seconds[index])
    names = [candidate.name for candidate, _ in contenders]
    times = (f"{name} {1e6 * time:.1f} us" for name, time in zip(names, seconds, strict=True))
    cache.store(question, names[fastest], ", ".join(times))
    return prepared[fastest]


def _near_best(candidates: Sequence[AlgorithmCandidate]) -> list[tuple[AlgorithmCandidate, float]]:
    """Return the candidates that may be the fastest, and their instructions."""
    bound = math.inf
    counted = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.instructions):
        if candidate.instructions > bound:
            break
        count = candidate.counted() if candidate.counted else candidate.instructions
        bound = min(bound, count * candidate.doubt)
        counted.append((candidate, count))
    return [(candidate, count) for candidate, count in counted if count <= bound]
