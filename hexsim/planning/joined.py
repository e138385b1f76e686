"""Neighbouring subnets that one call into the DSP runs, and the inputs and outputs of the call.

A run of subnets of one DSP runtime is one FastRPC call: the executor on the Q6 runs them in order
on HVX and on the tensor engine. Subnets on the tensor processor are one graph. A subnet on the CPU
or the GPU is not joined with others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from weakref import WeakKeyDictionary

from hexsim.graph.ir import Network, Shape
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.runtimes import Engine

_ON_DSP: frozenset[Engine] = frozenset({"hvx", "hta"})


@dataclass(frozen=True, eq=False)
class JoinedSubnets:
    """Subnets in order; `inputs` come from outside all of them, `outputs` are used there.

    They are compared by identity, because each plan has them once.
    """

    subnets: tuple[PlannedSubnet, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, network: Network, subnets: tuple[PlannedSubnet, ...]) -> JoinedSubnets:
        """Join subnets of `network`."""
        inputs, outputs = network.boundary([layer for subnet in subnets for layer in subnet.layers])
        return cls(
            subnets,
            inputs,
            outputs,
            tuple(network.shape(name) for name in inputs),
            tuple(network.shape(name) for name in outputs),
        )

    @property
    def on_dsp(self) -> bool:
        """Whether this is a call into the DSP."""
        return self.subnets[0].engine in _ON_DSP

    @property
    def uses_hta(self) -> bool:
        """Whether the tensor engine runs one of the subnets."""
        return any(subnet.engine == "hta" for subnet in self.subnets)

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """Bits of every tensor, by name."""
        return {name: bits for subnet in self.subnets for name, bits in subnet.bits.items()}

    @property
    def as_codes(self) -> frozenset[str]:
        """Inputs and outputs that cross as codes, converted by a Convert layer elsewhere."""
        return frozenset(name for subnet in self.subnets for name in subnet.as_codes)

    def written_by(self, engine: Engine) -> frozenset[str]:
        """Return the outputs of the subnets on `engine`."""
        return self._names("outputs", engine)

    def read_by(self, engine: Engine) -> frozenset[str]:
        """Return the inputs of the subnets on `engine`."""
        return self._names("inputs", engine)

    def _names(self, side: str, engine: Engine) -> frozenset[str]:
        return frozenset(
            name
            for subnet in self.subnets
            if subnet.engine == engine
            for name in getattr(subnet, side)
        )


_cache: WeakKeyDictionary[Plan, tuple[JoinedSubnets, ...]] = WeakKeyDictionary()


def joined_subnets(plan: Plan) -> tuple[JoinedSubnets, ...]:
    """Return the subnets of `plan`, joined by call; the result is cached for each plan."""
    if plan not in _cache:
        _cache[plan] = tuple(_joined(plan))
    return _cache[plan]


def _joined(plan: Plan) -> Iterator[JoinedSubnets]:
    for _, run in groupby(
        enumerate(plan.subnets),
        key=lambda item: _call_of(item[1]) or item[0],
    ):
        yield JoinedSubnets.of(plan.network, tuple(subnet for _, subnet in run))


def _call_of(subnet: PlannedSubnet) -> str | None:
    """Return a key that neighbours in one call share, None on CPU and GPU."""
    if subnet.engine == "htp":
        return subnet.engine
    return subnet.runtime if subnet.engine in _ON_DSP else None
