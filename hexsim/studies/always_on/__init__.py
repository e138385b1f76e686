"""Always-on: a network that is called every period, on the low-power island and on the DSP.

`island` and `dsp` compute the power of an alternative by part; this file compares both.
"""

import math
from collections.abc import Sequence
from typing import Literal, get_args

from hexsim.datasheets.background import Background
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled
from hexsim.planning.plan import Plan
from hexsim.results.always_on import Alternative, AlwaysOn, by_power
from hexsim.studies.always_on.dsp import PARTS, on_dsp
from hexsim.studies.always_on.island import on_island

__all__ = ["PARTS", "Where", "always_on"]


Where = Literal["island", "dsp"]
_SHORTEST_MS, _LONGEST_MS = 1.0, 3_600_000.0


def always_on(
    plan: Plan,
    platform: Platform,
    every_ms: float,
    where: Where | None = None,
    perf_profile: str | None = None,
    background: Sequence[Background] = (),
) -> AlwaysOn:
    """Compare the alternatives, or return only the one that `where` names.

    Raises HexsimError if all of these are refused.
    """
    if not (_SHORTEST_MS <= every_ms <= _LONGEST_MS and math.isfinite(every_ms)):
        raise HexsimError(
            f"an inference every {every_ms:g} ms; give {spelled('every')} between "
            f"{_SHORTEST_MS:g} and "
            f"{_LONGEST_MS:g}"
        )
    plan.require_work()
    platform.stack.profile(perf_profile)
    clients = [client for load in background for client in load.clients]
    alternatives, refusals = [], []
    for name in (where,) if where else get_args(Where):
        study = on_island if name == "island" else on_dsp
        try:
            alternatives.append(study(plan, platform, every_ms / 1e3, perf_profile, clients))
        except HexsimError as error:
            refusals.append(error)
            alternatives.append(Alternative(where=name, refusal=str(error)))
    if len(refusals) == len(alternatives):
        raise refusals[-1]
    best, *worse = by_power(tuple(alternatives))
    return AlwaysOn(
        chip=platform.chip.name,
        stack=platform.stack.name,
        software=platform.software,
        perf_profile=perf_profile or platform.stack.default_profile,
        network=plan.network.name,
        every_ms=every_ms,
        better=best.where,
        at_both_ends=all(
            best.power.low < other.power.low and best.power.high < other.power.high
            for other in worse
        ),
        alternatives=tuple(alternatives),
    )
