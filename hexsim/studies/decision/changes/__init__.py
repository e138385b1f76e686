"""Changes of a network that may make it faster, each made on a copy.

`change` says what a change is, and makes a changed model. `layers`, `axes` and `channels` have the
changes of one kind. Left out: axes of a concat or a softmax that remain between other layers, and
channels of layers that a concat or a split joins.
"""

from collections.abc import Iterator

from hexsim.graph.ir import Network
from hexsim.runtimes import MAIN_ENGINE, Runtime
from hexsim.studies.decision.changes import axes, channels, layers
from hexsim.studies.decision.changes.change import Change

FIXED = (*layers.CHANGES, *axes.CHANGES)
"""The changes that any engine may profit from."""


def changes_of(network: Network, runtime: Runtime) -> Iterator[Change]:
    """Yield the changes to try; those of channels depend on what the engine computes at once."""
    yield from FIXED
    yield from channels.changes_of(network, MAIN_ENGINE[runtime])
