"""A subnet before it is planned: a run of layers on one engine."""

from dataclasses import dataclass

from hexsim.graph.ir import Layer
from hexsim.runtimes import Engine, Runtime


@dataclass(frozen=True)
class Subnet:
    """A run of layers on one engine; `reason` says why it is cut off from its neighbours."""

    runtime: Runtime
    engine: Engine
    layers: tuple[Layer, ...]
    reason: str
