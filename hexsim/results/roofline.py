"""The layers of an inference under the roofs of its engine: the rate of each, and its limit."""

import math
from collections.abc import Mapping
from typing import Annotated

from hexsim.texts.fields import Macs, Microseconds, Part, Share, about, unit
from hexsim.timing.results import Bound

MacsPerSecond = Annotated[float, unit("MAC/s")]
MacsPerByte = Annotated[float, unit("MAC/byte")]
BytesPerSecond = Annotated[float, unit("bytes/s")]

_MEMORY_OF: Mapping[Bound, str] = {"ddr": "ddr", "latency": "ddr", "l2": "l2"}


class MemoryRoof(Part):
    """A memory that limits layers by the bytes it moves."""

    name: Annotated[str, about("the roof")]
    level: Annotated[str, about("ddr or l2")]
    bytes_per_s: Annotated[BytesPerSecond, about("its rate")]
    is_limit: Annotated[bool, about("whether no layer exceeds it")] = True


class RooflinePoint(Part):
    """A layer under the roofs; multiply-accumulates per byte of each level, null without bytes."""

    name: Annotated[str, about("the layer", label="layer")]
    type: Annotated[str, about("its type")]
    macs: Annotated[Macs, about("its multiply-accumulates", label="MMAC", shown="MMAC")]
    us: Annotated[Microseconds, about("its duration")]
    ddr_macs_per_byte: Annotated[MacsPerByte | None, about("per byte of DDR")]
    l2_macs_per_byte: Annotated[MacsPerByte | None, about("per byte through the port of L2")]
    macs_per_s: Annotated[MacsPerSecond, about("its rate")]
    roof: Annotated[str, about("the lowest roof over it")]
    roof_macs_per_s: Annotated[MacsPerSecond, about("the rate that this allows")]
    lost_us: Annotated[Microseconds, about("time beyond that roof")]
    bound: Annotated[Bound, about("what most of its time is spent on")]
    bound_share: Annotated[Share, about("how much of it")] = 1.0

    @property
    def place(self) -> float:
        """The intensity at which a layer is drawn: at the memory of its bound, else of its roof."""
        sizes = {"ddr": self.ddr_macs_per_byte, "l2": self.l2_macs_per_byte}
        intensities = {level: math.inf if at is None else at for level, at in sizes.items()}
        chosen = intensities.get(_MEMORY_OF.get(self.bound, self.roof.lower()), math.inf)
        return chosen if math.isfinite(chosen) else min(intensities.values())

    @property
    def own_macs_per_s(self) -> float:
        """The rate that the layer would reach if its time went on nothing but its bound."""
        return self.macs_per_s / (self.bound_share or 1.0)

    @property
    def share_of_roof(self) -> float:
        """The layer's rate relative to the lowest roof over it, 0 .. 1."""
        return self.macs_per_s / self.roof_macs_per_s


class Roofline(Part):
    """Roofs of an engine, and the layers that multiply there, those that lose most time first."""

    engine: Annotated[str, about("the engine")]
    peak_name: Annotated[str, about("what multiplies there")]
    peak_macs_per_s: Annotated[MacsPerSecond, about("its peak")]
    memories: Annotated[tuple[MemoryRoof, ...], about("memories that limit layers")]
    other_layers: Annotated[int, about("layers without multiply-adds or on other engines")]
    other_share: Annotated[Share, about("of the time, of them and of all that is no layer")]
    points: Annotated[tuple[RooflinePoint, ...], about("the layers")]
