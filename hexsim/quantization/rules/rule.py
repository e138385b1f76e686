"""EncodingRule: the interface between the quantiser and its modes."""

from typing import Protocol

from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Observation


class EncodingRule(Protocol):
    """One way to choose an encoding.

    Rules are frozen dataclasses; their fields are choices such as bits and smallest range.
    """

    @property
    def needs_histogram(self) -> bool:
        """Whether `encode` needs a histogram besides the range."""

    def encode(self, seen: Observation) -> Encoding:
        """Return the encoding of a tensor with this observation."""
