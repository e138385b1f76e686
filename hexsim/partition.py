"""Which runtime runs which layer, and the reason for every cut.

A network asked to run on a runtime is cut, in layer order, into subnets: runs of layers that one
runtime takes. What the asked runtime refuses goes to the CPU runtime (CPU fallback), or the
whole request is refused where fallback is off.

Left out: HTA subnets inside AIP; until they exist AIP runs everything on HVX, which is what the
real runtime does with a file that has no HTA sections.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.runtimes import Runtime


@dataclass(frozen=True)
class Subnet:
    """A run of layers on one runtime; `reason` says why it is cut off from its neighbours."""

    runtime: Runtime
    layers: tuple[Layer, ...]
    reason: str


def partition(
    model: Network | QuantizedNetwork, runtime: Runtime, *, cpu_fallback: bool = True
) -> list[Subnet]:
    """Cut `model` into subnets for `runtime`.

    Raises HexsimError if `cpu_fallback` is False and a layer is refused.
    """
    network = float_network(model)
    refusals = {layer.name: refusal_in(model, layer, runtime) for layer in network.layers}
    if not cpu_fallback:
        for layer in network.layers:
            if refusals[layer.name]:
                raise HexsimError(
                    f"layer '{layer.name}' ({layer.type}) cannot run on {runtime}: "
                    f"{refusals[layer.name]}; allow CPU fallback or choose another runtime"
                )
    subnets = []
    for refused, run in groupby(network.layers, key=lambda layer: refusals[layer.name]):
        layers = tuple(run)
        if refused is None:
            subnets.append(Subnet(runtime, layers, f"{runtime} takes every layer"))
        else:
            subnets.append(Subnet("cpu", layers, refused))
    return _merge_fallbacks(subnets)


def _merge_fallbacks(subnets: list[Subnet]) -> list[Subnet]:
    """Join neighbouring CPU subnets that were refused for different reasons."""
    merged: list[Subnet] = []
    for subnet in subnets:
        if merged and merged[-1].runtime == subnet.runtime:
            last = merged.pop()
            reasons = dict.fromkeys((*last.reason.split("; "), subnet.reason))
            subnet = Subnet(subnet.runtime, last.layers + subnet.layers, "; ".join(reasons))
        merged.append(subnet)
    return merged
