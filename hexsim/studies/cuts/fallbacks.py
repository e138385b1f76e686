"""The layers of a plan that run on the CPU: why, what each costs, and what would keep it.

An engine leaves a layer to the CPU that it refuses (CPU fallback). The cost is the time of the
layer there, and that of the crossings (hexsim.deployment.fallbacks).

What would keep a layer is tried on a copy of the network: the changes of hexsim.studies.changes
that any engine may profit from, nearest resizes as bilinear ones, and erf as tanh. A change counts
for a layer if what writes its outputs is then on the engine. What none of them keeps is tried with
all at once. Left out: the time with the change, which `hexsim decide` has.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Opaque, Resize
from hexsim.planning.plan import Subnet
from hexsim.planning.sections import id_of
from hexsim.quantization.model import Model
from hexsim.results.partition import CpuLayer
from hexsim.studies.changes import FIXED, Change, changed_model, with_functions
from hexsim.texts.fields import taken
from hexsim.timing.results import Result

_COSTS = ("us", "to_cpu_us", "from_cpu_us")


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
    timed = {layer.name: layer for layer in result.layers}
    layers = [
        taken(
            CpuLayer,
            timed[layer.name],
            layer=layer.name,
            id=id_of(network, index[layer.name]),
            type=layer.op_type if isinstance(layer, Opaque) else layer.type,
            reason=timed[layer.name].cpu_reason,
            subnet=number,
            cost_us=sum(getattr(timed[layer.name], key) for key in _COSTS),
            instead=kept.get(layer.name, ""),
        )
        for number, subnet in enumerate(subnets)
        if subnet.is_fallback
        for layer in subnet.layers
    ]
    return tuple(sorted(layers, key=lambda layer: -(layer.cost_us or 0.0)))


def _kept(deployment: Deployment, subnets: Sequence[Subnet]) -> Mapping[str, str]:
    """Return what would keep a layer on the engine, by the layer's name.

    What no change keeps alone may be kept by several; of all of them those are named that are
    needed for it.
    """
    on_cpu = {layer.name for part in subnets if part.is_fallback for layer in part.layers}
    kept: dict[str, str] = {}
    changes = list(_changes()) if on_cpu else []
    for change in changes:
        kept |= dict.fromkeys(_helped([change], deployment, on_cpu - kept.keys()), _said(change))
    together = set(_helped(changes, deployment, on_cpu - kept.keys()))
    for change in changes if together else ():
        fewer = [other for other in changes if other is not change]
        if together <= set(_helped(fewer, deployment, together)):
            changes = fewer
    return kept | dict.fromkeys(together, _said(*changes))


def _said(*changes: Change) -> str:
    answers = "same" if all(change.same_answers for change in changes) else "other"
    return f"{' and '.join(change.name for change in changes)} ({answers} answers)"


def _changes() -> Iterator[Change]:
    """Yield what is tried, first what keeps the answers."""
    yield from sorted(FIXED, key=lambda change: not change.same_answers)
    yield Change("nearest resizes as bilinear ones", _as_bilinear)
    yield Change("erf as tanh", partial(with_functions, {"erf": {"function": "tanh"}}))


def _helped(
    changes: Sequence[Change], deployment: Deployment, on_cpu: Collection[str]
) -> Iterator[str]:
    """Yield the layers of `on_cpu` that the engine takes after those changes that can be made."""
    model = before = deployment.model
    for change in changes if on_cpu else ():
        with suppress(HexsimError):
            if (network := change.make(model.network)) is not None:
                model = changed_model(model, network)
    if model is before:
        return
    try:
        after = _on_cpu(model, deployment)
    except HexsimError:
        return  # what the runtime does not take as a whole
    for layer in before.network.layers:
        if layer.name in on_cpu:
            writers = [model.network.producers.get(name) for name in layer.outputs]
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
