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

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hexsim.records import dataclass
from hexsim.texts.fields import Part, about

Confidence = Literal["documented", "inferred", "calibrated", "assumed"]


class Quantity(BaseModel):
    """One constant as its file states it.

    `documented`: printed in the source. `inferred`: follows from documented facts. `calibrated`:
    fitted to the measurement file. `assumed`: not published. The last two have the bounds
    `low` and `high`, between which the uncertainty sweep varies them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    value: float
    unit: str = Field(min_length=1)
    source: str = Field(min_length=1)
    confidence: Confidence
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _bounds_fit_the_confidence(self) -> Quantity:
        if self.confidence in ("documented", "inferred"):
            if self.low is not None or self.high is not None:
                raise PydanticCustomError(
                    "bounds", "expected no low and high on a constant that is not swept"
                )
        elif self.low is None or self.high is None or not self.low <= self.value <= self.high:
            raise PydanticCustomError(
                "bounds", "expected low <= value <= high on an assumed or calibrated constant"
            )
        return self


@dataclass(frozen=True)
class Unit:
    """Annotation of a numeric field, for which the file states a `Quantity` in this unit."""

    symbol: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validate the table, check its unit, and pass on the plain number."""
        return core_schema.chain_schema(
            [
                handler.generate_schema(Quantity),
                core_schema.no_info_plain_validator_function(self._number),
                handler(source),
            ]
        )

    def _number(self, quantity: Quantity) -> float:
        if quantity.unit != self.symbol:
            raise PydanticCustomError(
                "unit",
                "expected the unit '{expected}', not '{given}'",
                {"expected": self.symbol, "given": quantity.unit},
            )
        return quantity.value


Hertz = Annotated[PositiveFloat, Unit("Hz")]
Seconds = Annotated[NonNegativeFloat, Unit("s")]
SecondsPerByte = Annotated[NonNegativeFloat, Unit("s/B")]
SecondsPerElement = Annotated[NonNegativeFloat, Unit("s/element")]
Clocks = Annotated[NonNegativeFloat, Unit("clk")]
ClocksPerPacket = Annotated[PositiveFloat, Unit("clk/packet")]
ClocksPerElement = Annotated[NonNegativeFloat, Unit("clk/element")]
Packets = Annotated[NonNegativeFloat, Unit("packet")]
Bits = Annotated[PositiveInt, Unit("bit")]
Bytes = Annotated[NonNegativeInt, Unit("B")]
SomeBytes = Annotated[PositiveInt, Field(ge=1 << 10), Unit("B")]
"""Memory into which work is cut: at least 1 KiB, to limit the number of pieces."""
InFlight = Annotated[PositiveInt, Unit("B")]
BytesPerSecond = Annotated[PositiveFloat, Unit("B/s")]
BytesPerClock = Annotated[PositiveFloat, Unit("B/clk")]
BytesPerElement = Annotated[PositiveFloat, Unit("B/element")]
MacsPerClock = Annotated[PositiveFloat, Unit("MAC/clk")]
FlopsPerClock = Annotated[PositiveFloat, Unit("FLOP/clk")]
Count = Annotated[PositiveInt, Unit("1")]
Threads = Annotated[PositiveInt, Field(le=1 << 10), Unit("1")]
"""Threads are simulated one by one; the limit is far above that of any chip, and still quick."""
Ratio = Annotated[PositiveFloat, Unit("1")]
Fraction = Annotated[PositiveFloat, Field(le=1), Unit("1")]
Real = Annotated[PositiveFloat, Unit("real")]


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
