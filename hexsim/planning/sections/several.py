"""The rules since SNPE 1.25: any number of sections, with any number of inputs and outputs.

Automatic sections are all runs of layers that the engine takes, because the SDK's compiler runs as
much as possible on it. A run without multiply-adds (pools and concats between refused layers) has
no use for a MAC array and stays on HVX; the SDK's own threshold is not published.
"""

from collections.abc import Sequence
from itertools import groupby

from hexsim.graph.ir import Network


def runs(refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the maximal runs of layers that are not refused."""
    ranges = []
    for refused, run in groupby(range(len(refusals)), key=lambda at: refusals[at] is not None):
        indices = list(run)
        if not refused:
            ranges.append(range(indices[0], indices[-1] + 1))
    return tuple(ranges)


def automatic(network: Network, refusals: Sequence[str | None]) -> tuple[range, ...]:
    """Return the maximal runs of layers that are not refused and multiply."""
    return tuple(
        run for run in runs(refusals) if any(network.macs(network.layers[at]) for at in run)
    )


def check(network: Network, sections: Sequence[range], refusals: Sequence[str | None]) -> None:
    """Accept all sections, because these rules have no limits."""
