"""Finding: one loss of a quantised network, with a sentence that says what to do about it."""

from dataclasses import dataclass
from typing import Literal

FindingKind = Literal[
    "joined below a step", "saturated weights", "dead channels", "steps too small", "unused range"
]


@dataclass(frozen=True)
class Finding:
    """One loss: its kind, the layer, the tensor or weight, the `share` lost, and the sentence."""

    kind: FindingKind
    layer: str
    tensor: str
    share: float
    sentence: str
