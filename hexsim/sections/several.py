"""The rules since SNPE 1.25: any number of sections, with any number of inputs and outputs.

Automatic sections are all runs of layers that the engine takes, as the SDK's compiler maximises
what runs on it. A run that only reshapes holds nothing to compute and stays on HVX.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hexsim.graph.ir import Network
from hexsim.layers import Reshape


def automatic(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the maximal runs of layers that are not refused."""
    sections = []
    for refused, run in groupby(range(len(refusals)), key=lambda at: refusals[at] is not None):
        indices = list(run)
        section = range(indices[0], indices[-1] + 1)
        if not refused and any(not isinstance(network.layers[at], Reshape) for at in section):
            sections.append(section)
    return tuple(sections)


def check(network: Network, sections: Sequence[range], refusals: Sequence[str | None]) -> None:
    """Everything is allowed."""
