"""What would keep a layer on its engine that leaves it to the CPU.

It is tried on a copy of the network: the changes of hexsim.studies.changes that any engine may
profit from, nearest resizes as bilinear ones, and erf as tanh. A change counts for a layer if the
engine takes what then writes its outputs. What none of them keeps is tried with all at once. Left
out: the time with the change, which `hexsim decide` has.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from hexsim.deployment import Deployment
from hexsim.deployment.deployment import as_run_by
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Resize
from hexsim.layers.support import lacking_type
from hexsim.planning.placement import cpu_reason
from hexsim.studies.changes import FIXED, Change, changed_model, with_functions
from hexsim.timing.results import Result


def remedied(deployment: Deployment, result: Result) -> Result:
    """Return a result of a deployment that says what would keep layers of the CPU on the engine.

    What no change keeps alone may be kept by several; of all of them those are named that are
    needed for it.
    """
    first, *others = result.inferences
    if not (on_cpu := {layer.name for layer in first.layers if layer.cpu_reason}):
        return result
    order_counts = _order_counts(deployment, on_cpu)
    changes = [change for change in _changes() if order_counts or not change.order_alone]
    kept = dict[str, str]()
    for change in changes:
        kept |= dict.fromkeys(_helped([change], deployment, on_cpu - kept.keys()), _said(change))
    together = set(_helped(changes, deployment, on_cpu - kept.keys()))
    for change in changes if together else ():
        fewer = [other for other in changes if other is not change]
        if together <= set(_helped(fewer, deployment, together)):
            changes = fewer
    kept |= dict.fromkeys(together, _said(*changes))
    layers = (replace(layer, instead=kept.get(layer.name, "")) for layer in first.layers)
    return replace(result, inferences=(replace(first, layers=tuple(layers)), *others))


def _said(*changes: Change) -> str:
    answers = "same" if all(change.same_answers for change in changes) else "other"
    return f"{' and '.join(change.name for change in changes)} ({answers} answers)"


def _order_counts(deployment: Deployment, on_cpu: Collection[str]) -> bool:
    """Return whether another order of axes may help: the engine has the type of a layer."""
    network, operators = deployment.planned.network, deployment.platform.operators
    return any(
        layer.name in on_cpu and not lacking_type(layer, deployment.runtime, network, operators)
        for layer in network.layers
    )


def _changes() -> Iterator[Change]:
    """Yield what is tried, first what keeps the answers."""
    yield from sorted(FIXED, key=lambda change: not change.same_answers)
    yield Change("nearest resizes as bilinear ones", _as_bilinear)
    yield Change("erf as tanh", partial(with_functions, {"erf": {"function": "tanh"}}))


def _helped(
    changes: Sequence[Change], deployment: Deployment, on_cpu: Collection[str]
) -> Iterator[str]:
    """Yield the layers of `on_cpu` that the engine takes after those changes that can be made."""
    model = before = deployment.planned
    for change in changes if on_cpu else ():
        with suppress(HexsimError):
            if (network := change.make(model.network)) is not None:
                model = changed_model(model, network)
    if model is before:
        return
    model = as_run_by(deployment.platform.stack, model)

    def refused(layer: Layer) -> str:
        return cpu_reason(model, layer, deployment.runtime, deployment.platform.operators)

    for layer in before.network.layers:
        # One that the cut alone leaves to the CPU, not the engine, is helped by none.
        if layer.name in on_cpu and deployment.cpu_reason(layer):
            writers = [model.network.producers.get(name) for name in layer.outputs]
            if not any(writer is not None and refused(writer) for writer in writers):
                yield layer.name


def _as_bilinear(network: Network) -> Network | None:
    layers = [
        layer.replace(kind="bilinear") if isinstance(layer, Resize) else layer
        for layer in network.layers
    ]
    return network.with_layers(layers) if layers != list(network.layers) else None
