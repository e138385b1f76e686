"""Compare both alternatives of an always-on network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hexsim.datasheets.background import Background
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, spelled
from hexsim.planning.plan import Plan
from hexsim.studies.always_on.dsp import on_dsp
from hexsim.studies.always_on.island import on_island
from hexsim.studies.always_on.parts import Alternative

Where = Literal["island", "dsp"]
_SHORTEST_MS, _LONGEST_MS = 1.0, 3_600_000.0


@dataclass(frozen=True)
class AlwaysOn:
    """A network every `every_ms`; `alternatives` in the order island, DSP, refused ones too."""

    network: str
    every_ms: float
    alternatives: tuple[Alternative, ...]

    @property
    def possible(self) -> tuple[Alternative, ...]:
        """The alternatives that are not refused, the one of least power first."""
        accepted = [alternative for alternative in self.alternatives if not alternative.refusal]
        return tuple(sorted(accepted, key=lambda alternative: alternative.milliwatts.value))

    @property
    def is_certain(self) -> bool:
        """True if the order is the same with all constants at their lower and upper ends."""
        best, *worse = self.possible
        return all(
            best.milliwatts.low < alternative.milliwatts.low
            and best.milliwatts.high < alternative.milliwatts.high
            for alternative in worse
        )


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
            alternatives.append(Alternative(name, "turbo", 0.0, 0.0, 0.0, {}, refusal=str(error)))
    if len(refusals) == len(alternatives):
        raise refusals[-1]
    return AlwaysOn(plan.network.name, every_ms, tuple(alternatives))
