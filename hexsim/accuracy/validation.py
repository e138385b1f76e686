"""Validation: one pass over the inputs that says how well a runtime follows the float network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.items import scores_of_items, unpadded
from hexsim.accuracy.layer_errors import ErrorStream, LayerError
from hexsim.accuracy.rescaling import RescalingLoss, rescaling_losses
from hexsim.accuracy.scores import before_choices
from hexsim.accuracy.twin import Twin
from hexsim.deployment import Deployment
from hexsim.graph.ir import FloatArray, Network

Feed = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Validation:
    """What one pass found; `output_sqnr_db` is that of all float32 outputs together.

    `rescaled` has the weights that the runtime rescaled at load, `notes` a sentence for each output
    that is not compared itself.
    """

    hits: Hits
    labelled: bool
    output_sqnr_db: float
    layers: tuple[LayerError, ...]
    rescaled: tuple[RescalingLoss, ...] = ()
    notes: tuple[str, ...] = ()


def validate(
    deployment: Deployment,
    inputs: Iterable[Feed],
    *,
    labels: Sequence[Sequence[int]] | None = None,
    batch: int = 1,
    items: int | None = None,
    threads: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> Validation:
    """Compare a runtime with float on `inputs` (at least one, arrays in stored order).

    Each input is a batch of `batch` items; `items` is their number without the padding of the
    last one, by default all are full. `labels` has the right classes of each item. `threads` share
    the work of a layer, 0 for one per core. Memory is bounded by the activations of one input.
    """
    twin = Twin(deployment, threads)
    stream, hits, outputs = ErrorStream(twin), Hits(), Distance()
    network = twin.network
    before = before_choices(network)
    compared = tuple(dict.fromkeys(n for o in network.outputs for n in before.get(o, (o,))))
    scored = [name for name in compared if network.tensors[name].dtype == "float32"]
    for index, feed in enumerate(inputs):
        count = batch if items is None else min(batch, items - index * batch)
        floats, others = (unpadded(values, batch, count) for values in twin.run(feed))
        stream.add(floats, others)
        for name in scored:
            outputs.add(floats[name], others[name])
        first = (scores_of_items(v[compared[0]], batch) for v in (floats, others))
        for expected, found in zip(*first, strict=True):
            hits.add(expected, found, None if labels is None else labels[hits.inputs])
        progress(index + 1)
    losses: tuple[RescalingLoss, ...] = ()
    if deployment.signed_weights:
        on_hvx = [
            layer
            for subnet in deployment.subnets
            for layer in subnet.layers
            if subnet.engine == "hvx"
        ]
        losses = rescaling_losses(deployment.loaded, on_hvx)
    return Validation(
        hits, labels is not None, outputs.sqnr_db, stream.errors(), losses, tuple(_notes(network))
    )


def _notes(network: Network) -> Iterator[str]:
    """What is not compared itself, and why."""
    before = before_choices(network)
    for layer in network.layers:
        chosen = [name for name in layer.outputs if name in before]
        if chosen:
            named, floats = _quoted(chosen), _quoted(before[chosen[0]])
            yield f"{named}: compared before '{layer.name}' ({layer.type}), on {floats}"
    for name in network.outputs:
        dtype = network.tensors[name].dtype
        if dtype != "float32" and name not in before:
            yield f"'{name}': not compared, as it holds {dtype} numbers"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
