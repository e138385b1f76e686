"""A network that is called every period: on the low-power island, and on the DSP."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from hexsim.datasheets.chips import Corner
from hexsim.datasheets.quantity import Estimate
from hexsim.results.document import Document
from hexsim.texts.fields import Hertz, Milliseconds, Milliwatts, Part, Share, about
from hexsim.texts.figures import figure


class Alternative(Part):
    """The island or the DSP; power by part. One that is refused has no figures."""

    where: Annotated[str, about("island or dsp")]
    average_power_mw: Annotated[Estimate | None, about("average power; null if refused")] = None
    parts_mw: Annotated[Mapping[str, Estimate], about("average power by part, in mW")] = {}
    duty: Annotated[Share, about("how much of the time the core is awake")] = 0.0
    call_ms: Annotated[Milliseconds, about("one inference with its wake-up")] = 0.0
    corner: Annotated[Corner | None, about("the corner of its clock")] = None
    clock_hz: Annotated[Hertz, about("its clock")] = 0.0
    elsewhere: Annotated[tuple[str, ...], about("clients that keep waking the DSP, and why")] = ()
    refusal: Annotated[str | None, about("why it is refused")] = None

    @property
    def power(self) -> Estimate:
        """The average power of one that is not refused, in mW."""
        assert self.average_power_mw is not None
        return self.average_power_mw


class AlwaysOn(Document):
    """What always-on found."""

    WRITTEN_BY: ClassVar[str] = "hexsim always-on"
    ROWS: ClassVar[str] = "alternatives"

    chip: Annotated[str, about("the chip")]
    stack: Annotated[str, about("the software")]
    network: Annotated[str, about("its name")]
    every_ms: Annotated[Milliseconds, about("from call to call")]
    better: Annotated[str, about("the alternative of least power")]
    at_both_ends: Annotated[bool, about("whether it is so at either end of all constants")]
    alternatives: Annotated[tuple[Alternative, ...], about("island and DSP, refused ones too")]
    software: Annotated[str, about("the stack with the changes made to it")] = ""
    perf_profile: Annotated[str, about("the performance profile")] = ""

    @property
    def possible(self) -> tuple[Alternative, ...]:
        """The alternatives that are not refused, the one of least power first."""
        return by_power(self.alternatives)

    @property
    def title(self) -> str:
        """The network, its period, and the better alternative."""
        best: Milliwatts = self.possible[0].power.value
        return (
            f"{self.network} every {self.every_ms:g} ms on {self.chip}: {figure(best)} mW on the "
            f"{self.better}"
        )


def by_power(alternatives: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """Return the alternatives that are not refused, the one of least power first."""
    possible = (each for each in alternatives if each.average_power_mw is not None)
    return tuple(sorted(possible, key=lambda alternative: alternative.power.value))
