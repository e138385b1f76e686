"""The layers of a plan that run on the CPU: why, what each costs, and what would keep it.

An engine leaves a layer to the CPU that it refuses (CPU fallback). The cost is the time of the
layer there, and that of the crossings: everything on the critical path between the last layer
before it and its own begin, and between its end and the next layer on the engine. At the ends of a
network the values cross in any case, so that a layer there has no crossing of its own.

What would keep a layer is tried on a copy of the network: the changes of hexsim.studies.changes
that any engine may profit from, and nearest resizes as bilinear ones. A change counts for a layer
if what writes its outputs is then on the engine. Left out: the time with the change, which
`hexsim decide` has, and changes of several kinds at once.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Opaque, Resize
from hexsim.planning.plan import Subnet
from hexsim.planning.sections import id_of
from hexsim.quantization.model import Model
from hexsim.results.partition import CpuLayer
from hexsim.studies.changes import FIXED, Change, changed_model
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_US


def cpu_layers(
    deployment: Deployment, subnets: Sequence[Subnet], result: Result
) -> tuple[CpuLayer, ...]:
    """Return the layers that the engine leaves to the CPU, the costliest first.

    `subnets` are those of `result`. A runtime of the CPU leaves none.
    """
    if deployment.runtime in ("cpu", "fxp_cpu"):
        return ()
    network = deployment.network
    index = {layer.name: at for at, layer in enumerate(network.layers)}
    kept = _kept(deployment, subnets)
    times_us = {layer.name: layer.us for layer in result.layers}
    layers = []
    for number, subnet in enumerate(subnets):
        if not subnet.is_fallback:
            continue
        there, back = _crossings_us(subnets, number, result)
        for layer in subnet.layers:
            to_us = there if layer is subnet.layers[0] else 0.0
            from_us = back if layer is subnet.layers[-1] else 0.0
            layers.append(
                CpuLayer(
                    layer=layer.name,
                    id=id_of(network, index[layer.name]),
                    type=layer.op_type if isinstance(layer, Opaque) else layer.type,
                    reason=deployment.cpu_reason(layer) or subnet.reason,
                    subnet=number,
                    us=times_us[layer.name],
                    to_cpu_us=to_us,
                    from_cpu_us=from_us,
                    cost_us=times_us[layer.name] + to_us + from_us,
                    instead=kept.get(layer.name, ""),
                )
            )
    return tuple(sorted(layers, key=lambda layer: -(layer.cost_us or 0.0)))


def _crossings_us(subnets: Sequence[Subnet], number: int, result: Result) -> tuple[float, float]:
    """Return the time of the crossings to a subnet on the CPU and back, 0 at the network's ends."""
    if number in (0, len(subnets) - 1):
        return 0.0, 0.0
    of = {layer.name: layer for layer in result.layers}
    before, own, after = (
        [of[layer.name] for layer in subnets[at].layers] for at in (number - 1, number, number + 1)
    )

    def between_us(first_ps: int, last_ps: int) -> float:
        inside = (each for each in result.overheads if first_ps <= each.start_ps < last_ps)
        return sum(each.duration_ps for each in inside) / PS_PER_US

    left_ps = max(layer.start_ps + layer.duration_ps for layer in before)
    begin_ps = min(layer.start_ps for layer in own)
    end_ps = max(layer.start_ps + layer.duration_ps for layer in own)
    return between_us(left_ps, begin_ps), between_us(end_ps, min(a.start_ps for a in after))


def _kept(deployment: Deployment, subnets: Sequence[Subnet]) -> Mapping[str, str]:
    """Return the change that would keep a layer on the engine, by the layer's name."""
    on_cpu = {layer.name for part in subnets if part.is_fallback for layer in part.layers}
    kept: dict[str, str] = {}
    for change in _changes() if on_cpu else ():
        answers = "same answers" if change.same_answers else "other answers"
        for name in _helped(change, deployment, on_cpu - kept.keys()):
            kept[name] = f"{change.name} ({answers})"
    return kept


def _changes() -> Iterator[Change]:
    """Yield what is tried, first what keeps the answers."""
    yield from sorted(FIXED, key=lambda change: not change.same_answers)
    yield Change("nearest resizes as bilinear ones", _as_bilinear)


def _helped(change: Change, deployment: Deployment, on_cpu: Collection[str]) -> Iterator[str]:
    model = deployment.model
    try:
        if (network := change.make(model.network)) is None:
            return
        after = _on_cpu(changed_model(model, network), deployment)
    except HexsimError:
        return  # a network that cannot be changed in this way
    for layer in model.network.layers:
        if layer.name in on_cpu:
            writers = [network.producers.get(name) for name in layer.outputs]
            if all(writer is None or writer.name not in after for writer in writers):
                yield layer.name


def _on_cpu(model: Model, deployment: Deployment) -> set[str]:
    """Return the names of the layers of a changed model that would run on the CPU."""
    subnets = Deployment(model, deployment.platform, deployment.runtime).subnets
    return {layer.name for part in subnets if part.is_fallback for layer in part.layers}


def _as_bilinear(network: Network) -> Network | None:
    layers = [
        layer.replace(kind="bilinear") if isinstance(layer, Resize) else layer
        for layer in network.layers
    ]
    return network.with_layers(layers) if layers != list(network.layers) else None
