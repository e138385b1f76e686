"""Constants with their unit, source and confidence, and figures with intervals from them.

In a chip or stack file a constant is an inline table,
`{ value = 825e6, unit = "Hz", source = "...", confidence = "documented" }`. A schema declares the
field with one of the types below (`Hertz`, `Bytes`, ...): the file must then state that unit, and
code that reads the field gets the plain number. Unit and source are available from
`hexsim.datasheets.datasheet.Datasheet.quantities`.

An `Estimate` is computed with all constants as stated, at their lower, and at their upper ends.

Left out: unit conversion. A file with kB where bytes are expected is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from hexsim.texts.fields import Part, about
from hexsim.texts.tables import Mark, Place, Read, Table, TreeError, table_reader

Confidence = Literal["documented", "inferred", "calibrated", "assumed"]
Text = Annotated[str, Meta(min_length=1)]


class Quantity(Table, forbid_unknown_fields=True):
    """One constant as its file states it.

    `documented`: printed in the source. `inferred`: follows from documented facts. `calibrated`:
    fitted to the measurement file. `assumed`: not published. The last two have the bounds
    `low` and `high`, between which the uncertainty sweep varies them.
    """

    value: float
    unit: Text
    source: Text
    confidence: Confidence
    low: float | None = None
    high: float | None = None

    def fault(self) -> str | None:
        """Return what is expected of the bounds, if they do not suit the confidence."""
        if self.confidence in ("documented", "inferred"):
            is_bounded = self.low is not None or self.high is not None
            return "no low and high on a constant that is not swept" if is_bounded else None
        if self.low is None or self.high is None or not self.low <= self.value <= self.high:
            return "low <= value <= high on an assumed or calibrated constant"
        return None


class Unit(Mark):
    """Mark of a numeric field, for which the file states a `Quantity` in this unit."""

    def __init__(self, symbol: str) -> None:
        self._symbol = symbol
        self.expected = (
            f'a constant {{ value = ..., unit = "{symbol}", source = "...", '
            'confidence = "documented, inferred, calibrated or assumed" }'
        )

    def reader(self, read: Read) -> Read:
        """Return what reads the constant, checks its unit, and passes on the plain number."""
        stated = table_reader(Quantity)

        def number(node: Any, at: Place) -> Any:
            if not isinstance(node, dict):
                raise TreeError(at, node, self.expected)
            constant = stated(node, at)
            if constant.unit != self._symbol:
                raise TreeError(at, node, f"the unit '{self._symbol}', not '{constant.unit}'")
            return read(constant.value, at)

        return number


_Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
_Whole = Annotated[int, Meta(ge=0)]
_SomeWhole = Annotated[int, Meta(gt=0)]
Hertz = Annotated[_Positive, Unit("Hz")]
Seconds = Annotated[NotNegative, Unit("s")]
SecondsPerByte = Annotated[NotNegative, Unit("s/B")]
SecondsPerElement = Annotated[NotNegative, Unit("s/element")]
Clocks = Annotated[NotNegative, Unit("clk")]
ClocksPerPacket = Annotated[_Positive, Unit("clk/packet")]
ClocksPerElement = Annotated[NotNegative, Unit("clk/element")]
Packets = Annotated[NotNegative, Unit("packet")]
Bits = Annotated[_SomeWhole, Unit("bit")]
Bytes = Annotated[_Whole, Unit("B")]
SomeBytes = Annotated[_SomeWhole, Meta(ge=1 << 10), Unit("B")]
"""Memory into which work is cut: at least 1 KiB, to limit the number of pieces."""
InFlight = Annotated[_SomeWhole, Unit("B")]
BytesPerSecond = Annotated[_Positive, Unit("B/s")]
BytesPerClock = Annotated[_Positive, Unit("B/clk")]
BytesPerElement = Annotated[_Positive, Unit("B/element")]
TexelsPerLane = Annotated[NotNegative, Unit("texel/lane")]
MacsPerClock = Annotated[_Positive, Unit("MAC/clk")]
FlopsPerClock = Annotated[_Positive, Unit("FLOP/clk")]
Count = Annotated[_SomeWhole, Unit("1")]
Threads = Annotated[_SomeWhole, Meta(le=1 << 10), Unit("1")]
"""Threads are simulated one by one; the limit is far above that of any chip, and still quick."""
Ratio = Annotated[_Positive, Unit("1")]
Fraction = Annotated[_Positive, Meta(le=1), Unit("1")]
Real = Annotated[_Positive, Unit("real")]


class Estimate(Part, kw_only=False):
    """A figure with all constants as stated, at their lower and at their upper ends.

    It is unlikely that all constants lie at the same end, so the interval is wide. It has no
    probability.
    """

    value: Annotated[float, about("with the constants as stated")] = 0.0
    low: Annotated[float, about("with all constants at their lower ends")] = 0.0
    high: Annotated[float, about("with all constants at their upper ends")] = 0.0

    @classmethod
    def of(cls, constant: Quantity) -> Estimate:
        """Return a constant with its bounds, if it has any."""
        value, low, high = constant.value, constant.low, constant.high
        return cls(value, value if low is None else low, value if high is None else high)

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """Return a figure that no uncertain constant enters."""
        return cls(value, value, value)

    def __add__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            other = Estimate.exactly(other)
        return Estimate(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, other: Estimate | float) -> Estimate:
        if not isinstance(other, Estimate):
            other = Estimate.exactly(other)
        return Estimate(self.value * other.value, self.low * other.low, self.high * other.high)

    def inverse(self) -> Estimate:
        """Return one divided by it."""
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low)
