"""Which of several algorithms computes a layer: instructions counted, then time measured.

1. Instructions are estimated for each; those that cannot be the fastest drop out. Most layers have
   one left.
2. The others are timed here, on the layer's own shape with its own packed weights, one after the
   other in turns. The result is kept (`hexsim.int8.kept_choices`), so a later run chooses the same.

Values never depend on the choice. HEXSIM_KERNELS takes it away: the algorithm it names is used
wherever the CPU and the layer admit it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hexsim.errors import HexsimError
from hexsim.int8.features import has_vectors
from hexsim.int8.kept_choices import KeptChoices
from hexsim.int8.prepared import PreparedCall

Name = Literal["portable", "pairs", "guarded", "dots", "winograd"]
"""portable: plain loops for any CPU. pairs: int16 products, two to a step (AVX2). guarded: u8 by s8
products, packed against saturation (AVX2). dots: u8 by s8 products, four to a step (VNNI).
winograd: int16 products of transformed tiles of 3x3 convolutions (AVX2)."""

DOUBT = 1.15
"""Calibrated: of the convolutions of four networks in three modes of weights, those where counting
often names the slower of `pairs` and `guarded` lie within it."""


@dataclass(frozen=True)
class Candidate:
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
    candidates: Sequence[Candidate],
    layer: str,
    measure: Callable[[Sequence[PreparedCall]], Sequence[float]],
    kept: KeptChoices,
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


def _near_best(candidates: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
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


def use_vectors() -> bool:
    """Return whether kernels of AVX2 or better are used.

    Raises HexsimError if HEXSIM_KERNELS names no algorithm.
    """
    return wanted() != "portable" and has_vectors()


def wanted() -> Name | None:
    """Return the algorithm that HEXSIM_KERNELS names; raises HexsimError if there is none such."""
    named = os.environ.get("HEXSIM_KERNELS", "")
    if not named:
        return None
    if named not in get_args(Name):
        known = ", ".join(get_args(Name))
        raise HexsimError(f"HEXSIM_KERNELS is '{named}'; leave it out or set it to one of {known}")
    return named  # type: ignore[return-value]
