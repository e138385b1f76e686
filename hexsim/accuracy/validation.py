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
from hexsim.graph.shown import Sheet, Shown
from hexsim.onnx_io.float_engine import FloatEngine

Feed = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Original:
    """How a runtime follows the float network as it was before its weights were equalised.

    The `float` counts of `hits` are that network's own.
    """

    hits: Hits
    output_sqnr_db: float


@dataclass(frozen=True, repr=False)
class Validation(Shown):
    """What one pass found; `output_sqnr_db` is that of all float32 outputs together.

    `rescaled` has the weights that the runtime rescaled at load, `notes` a sentence for each output
    that is not compared itself. `original` is there where the reference was equalised.
    """

    hits: Hits
    labelled: bool
    output_sqnr_db: float
    layers: tuple[LayerError, ...]
    rescaled: tuple[RescalingLoss, ...] = ()
    notes: tuple[str, ...] = ()
    original: Original | None = None

    def sheet(self) -> Sheet:
        """Return a row per tensor, as far as its error is known."""
        title = f"SQNR of the outputs {self.output_sqnr_db:.1f} dB, {self.hits.inputs} inputs"
        names = ("layer", "type", "tensor", "sqnr_db", "cosine", "max_error")
        rows = tuple(tuple(getattr(one, name) for name in names) for one in self.layers)
        return Sheet(title, names, rows)


def validate(
    deployment: Deployment,
    inputs: Iterable[Feed],
    *,
    labels: Sequence[Sequence[int]] | None = None,
    batch: int = 1,
    items: int | None = None,
    threads: int = 0,
    original: Network | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Validation:
    """Compare a runtime with float on `inputs` (at least one, arrays in stored order).

    Each input is a batch of `batch` items; `items` is their number without the padding of the
    last one, by default all are full. `labels` has the right classes of each item. `threads` share
    the work of a layer, 0 for one per core. `original` is the float network before its weights were
    equalised, if the deployed one was. Memory is bounded by the activations of one input.
    """
    twin = Twin(deployment, threads)
    network, stream = twin.network, ErrorStream(twin)
    compared = _compared(network)
    answers = _Answers(compared, network, batch, labels)
    given = None if original is None else _Given(original, compared, threads)
    before = _Answers(compared, network, batch, labels)
    for index, feed in enumerate(inputs):
        count = batch if items is None else min(batch, items - index * batch)
        floats, others = (unpadded(values, batch, count) for values in twin.run(feed))
        stream.add(floats, others)
        answers.add(floats, others)
        if given is not None:
            before.add(unpadded(given.run(feed), batch, count), others)
        progress(index + 1)
    losses: tuple[RescalingLoss, ...] = ()
    if deployment.signed_weights:
        with_signed = [
            layer
            for subnet in deployment.subnets
            for layer in subnet.layers
            if subnet.runtime == deployment.runtime and subnet.engine != "hta"
        ]
        losses = rescaling_losses(deployment.loaded, with_signed)
    return Validation(
        answers.hits,
        labels is not None,
        answers.distance.sqnr_db,
        stream.errors(),
        losses,
        tuple(_notes(network)),
        Original(before.hits, before.distance.sqnr_db) if given else None,
    )


def _compared(network: Network) -> tuple[str, ...]:
    """The outputs, or what those that are chosen are chosen from."""
    before = before_choices(network)
    return tuple(dict.fromkeys(n for o in network.outputs for n in before.get(o, (o,))))


class _Given:
    """The float network before it was equalised; its answers have the names of the equalised."""

    def __init__(self, original: Network, names: Sequence[str], threads: int) -> None:
        self._own = _compared(original)
        self._names = names
        self._engine = FloatEngine(original, outputs=self._own, threads=threads)

    def run(self, feed: Feed) -> dict[str, FloatArray]:
        """Return what it answers to one input."""
        found = self._engine.run(feed)
        return {name: found[own] for name, own in zip(self._names, self._own, strict=True)}


class _Answers:
    """What two runs answer to the same inputs, counted and measured; `compared` are tensors."""

    def __init__(
        self,
        compared: Sequence[str],
        network: Network,
        batch: int,
        labels: Sequence[Sequence[int]] | None,
    ) -> None:
        self.hits, self.distance = Hits(), Distance()
        self._floats = [name for name in compared if network.tensors[name].dtype == "float32"]
        self._first, self._batch, self._labels = compared[0], batch, labels

    def add(self, floats: Feed, others: Feed) -> None:
        """Take in one input: what the float network says to it, and what the runtime does."""
        for name in self._floats:
            self.distance.add(floats[name], others[name])
        first = (scores_of_items(values[self._first], self._batch) for values in (floats, others))
        for expected, found in zip(*first, strict=True):
            right = None if self._labels is None else self._labels[self.hits.inputs]
            self.hits.add(expected, found, right)


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
