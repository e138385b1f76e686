"""Finding: one loss of a quantised network, with a sentence that says what to do about it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

SHOWN = 5
"""The number of findings that are texts; documents have all."""

FindingKind = Literal[
    "joined below a step",
    "saturated weights",
    "dead channels",
    "steps too small",
    "unused range",
    "slower sections",
    "coarse biases",
]


class Told(Protocol):
    """A finding, or its part of a document."""

    @property
    def sentence(self) -> str:
        """What is lost, where, and what to do about it."""


@dataclass(frozen=True)
class Finding:
    """One loss: its kind, the layer, the tensor or weight, the `share` lost, and the sentence.

    Sections that cost time concern no tensor; their share is one of the time.
    """

    kind: FindingKind
    layer: str
    tensor: str
    share: float
    sentence: str


def sentences(findings: Iterable[Told]) -> Iterator[str]:
    """Yield the sentences of the first findings, the worst ones, and the number of the others."""
    texts = list(dict.fromkeys(finding.sentence for finding in findings))
    yield from texts[:SHOWN]
    if len(texts) > SHOWN:
        yield f"and {len(texts) - SHOWN} more"
