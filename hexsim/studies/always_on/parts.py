"""The average power of an alternative by part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from hexsim.datasheets.chips.chip import Corner
from hexsim.datasheets.estimate import Estimate
from hexsim.energy.estimate import total

Part = Literal["inference", "background", "wake-ups", "idle", "ddr"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True)
class Alternative:
    """Average power in milliwatts by part, and the figures behind it.

    `duty` is the share of the time (0 .. 1) in which the core is awake, waking up and clients
    included. `call_ms` is one inference with its wake-up. `elsewhere` has a sentence for each
    client that cannot run on the island and keeps waking the DSP. Without `parts` the alternative
    is refused, and `refusal` says why.
    """

    where: str
    corner: Corner
    clock_hz: float
    call_ms: float
    duty: float
    parts: Mapping[Part, Estimate]
    elsewhere: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def milliwatts(self) -> Estimate:
        """The sum of all parts."""
        return total(self.parts.values())


def side_by_side(watts: Sequence[Mapping[Part, float]]) -> dict[Part, Estimate]:
    """Return milliwatts by part from watts at the stated, the lower and the upper constants."""
    value, low, high = watts
    return {
        part: Estimate(value[part], low[part], high[part]) * 1e3 for part in PARTS if part in value
    }
