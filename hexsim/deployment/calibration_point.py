"""One latency that was measured on a phone, and how far off it may itself be.

The measured figure is rounded, a repeated measurement gives another one, and another release yet
another. Besides, the model is off for the network that was measured, as for any other, and the
calibration carries this error over to all other networks. The causes are independent and are added
in quadrature.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

from hexsim.datasheets.quantity import Quantity
from hexsim.errors import HexsimError, spelled
from hexsim.runtimes import Runtime
from hexsim.texts.trees import is_quantity

_FLOATS = "@htp_fp16"


def share(value: float, source: str) -> Quantity:
    """Return a cause of an error, as a share of the latency."""
    return Quantity(value=value, unit="1", source=source, confidence="inferred")


REPETITION = share(0.01, "rows of one network differ by 1 % (docs/results/htp.md)")
RELEASES = share(0.05, "rows of two releases differ by 3 to 5 % (docs/results/htp.md)")
_CAUSES = {
    "repeated measurements": REPETITION,
    "releases": RELEASES,
    "the model for the network measured": share(
        0.22,
        "the worst anchor of a chip, in the middle of the chips and precisions of which ten "
        "networks are measured; about twice the standard error (docs/results/htp.md)",
    ),
}
"""Half lengths of intervals that contain about nineteen in twenty, as shares of the latency."""


@dataclass(frozen=True)
class CalibrationPoint:
    """A network, built-in or a file, that took `ms` milliseconds on a runtime of the phone.

    `figure` is the latency as the user wrote it, whose last digit says how it was rounded; a
    number without one is exact.
    """

    network: str
    runtime: Runtime
    ms: float
    figure: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read NETWORK=MS, or NETWORK@htp_fp16=MS; HexsimError if it is neither."""
        named, equals, number = text.rpartition("=")
        try:
            ms = float(number)
        except ValueError:
            ms = math.nan
        network = named.removesuffix(_FLOATS)
        if not (network and equals and is_quantity(ms) and ms > 0):
            raise HexsimError(
                f"{spelled('anchor')} takes NETWORK=MS, such as resnet50=1.23, "
                f"NETWORK{_FLOATS}=MS for "
                f"a latency in float16, or NETWORK=FILE, the profile of a phone, not '{text}'"
            )
        return cls(network, "htp" if network == named else "htp_fp16", ms, number.strip())

    def __str__(self) -> str:
        floats = _FLOATS if self.runtime == "htp_fp16" else ""
        return f"{self.network}{floats}={self.figure or f'{self.ms:g}'}"

    @property
    def causes(self) -> Mapping[str, Quantity]:
        """The causes of its error, as shares of the latency."""
        if not self.figure:
            return _CAUSES
        last_digit = Decimal(self.figure).as_tuple().exponent
        assert isinstance(last_digit, int), "finite"
        source = f"half a unit of the last digit of {self.figure} ms"
        rounding = share(10.0**last_digit / 2 / self.ms, source)
        return {"rounding": rounding, **_CAUSES}

    @property
    def error(self) -> float:
        """Half the length of the interval of its factor, as a natural logarithm."""
        return math.hypot(*(cause.value for cause in self.causes.values()))

    @property
    def description(self) -> str:
        """The latency with its error, for headings."""
        return f"anchor {self} (itself off by up to {self.error:.0%})"
