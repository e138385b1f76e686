"""Neighbouring subnets that one call into the DSP runs, and what crosses the edges of the call.

A run of subnets of one DSP runtime is one FastRPC call: the executor on the Q6 runs them in order
on HVX and on the tensor engine. A subnet on the CPU or the GPU stands alone.
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
    """Subnets in order; `inputs` come from outside all of them, `outputs` go there.

    A plan has them once, so each equals none but itself.
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
        """True if this is a call into the DSP."""
        return self.subnets[0].engine in _ON_DSP

    @property
    def uses_hta(self) -> bool:
        """True if the tensor engine runs one of the subnets."""
        return any(subnet.engine == "hta" for subnet in self.subnets)

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """Bits of every tensor, by name."""
        return {name: bits for subnet in self.subnets for name, bits in subnet.bits.items()}

    @property
    def as_codes(self) -> frozenset[str]:
        """The inputs and outputs that cross as codes, a Convert layer elsewhere converting them."""
        return frozenset(name for subnet in self.subnets for name in subnet.as_codes)

    def written_by(self, engine: Engine) -> frozenset[str]:
        """The tensors that the subnets on `engine` hand to others."""
        return self._names("outputs", engine)

    def read_by(self, engine: Engine) -> frozenset[str]:
        """The tensors that the subnets on `engine` take from others."""
        return self._names("inputs", engine)

    def _names(self, side: str, engine: Engine) -> frozenset[str]:
        return frozenset(
            name
            for subnet in self.subnets
            if subnet.engine == engine
            for name in getattr(subnet, side)
        )


_known: WeakKeyDictionary[Plan, tuple[JoinedSubnets, ...]] = WeakKeyDictionary()


def joined(plan: Plan) -> tuple[JoinedSubnets, ...]:
    """Return the subnets of `plan`, joined as far as one call runs them; always the same ones."""
    if plan not in _known:
        _known[plan] = tuple(_joined(plan))
    return _known[plan]


def _joined(plan: Plan) -> Iterator[JoinedSubnets]:
    for _, run in groupby(
        enumerate(plan.subnets),
        key=lambda item: item[1].runtime if item[1].engine in _ON_DSP else item[0],
    ):
        yield JoinedSubnets.of(plan.network, tuple(subnet for _, subnet in run))
