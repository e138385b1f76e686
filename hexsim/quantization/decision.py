"""Decision: the encoding of one tensor together with where it came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from hexsim.quantization.encodings import AxisEncoding, Encoding

Kind = TypeVar("Kind", bound=Encoding | AxisEncoding, covariant=True)


@dataclass(frozen=True)
class EncodingDecision(Generic[Kind]):
    """An encoding and its origin in a few words; None is a bias at the accumulator's scale."""

    encoding: Kind | None
    origin: str


def encodings_of(decided: Mapping[str, EncodingDecision[Kind]]) -> dict[str, Kind]:
    """Return the encodings, without the biases that have none."""
    return {name: d.encoding for name, d in decided.items() if d.encoding is not None}


def origins_of(decided: Mapping[str, EncodingDecision[Encoding | AxisEncoding]]) -> dict[str, str]:
    """Return the origin of each."""
    return {name: decision.origin for name, decision in decided.items()}
