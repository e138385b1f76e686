"""Validation: one pass over the inputs that compares a runtime with float, and one that counts.

The second pass makes histograms of the float values of the tensors with most error, beside their
encodings. These tensors are known only after the first pass over all inputs. So the values are
counted in a second one, of the float network alone; counting every tensor in the first would take
longer. In both, the padding of the last input does not count.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hexsim.accuracy.classification import TOP, Hits, unpadded
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.observation import Counted, Feed, Labels, Observer, Totals
from hexsim.accuracy.output_errors import OutputError, worst_db
from hexsim.accuracy.rescaling import RescalingLoss, rescaling_losses
from hexsim.accuracy.scores import is_classifier, scores_before, scores_per_item
from hexsim.deployment import Deployment
from hexsim.graph.ir import Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Reference
from hexsim.quantization.observation import Histogram


@dataclass(frozen=True)
class Original:
    """How a runtime agrees with the float network before its weights were equalised.

    The `float` counts of `hits` are that network's own.
    """

    hits: Hits
    outputs: tuple[OutputError, ...]

    @property
    def output_sqnr_db(self) -> float:
        """The SQNR of the worst output in dB."""
        return worst_db(self.outputs)


@dataclass(frozen=True)
class Compared:
    """Results of one pass; `outputs` are those of `compared_floats`.

    `rescaled` has the weights that the runtime rescaled at load, `notes` a sentence for each output
    that is not compared itself. `original` is set where the reference was equalised. `classes` is
    False where the network is no classifier and there are no labels: `hits` mean nothing then.
    `reference` is what the SQNR is against.
    `ranked` is False with no more than five classes: all of them are among the best five.
    """

    hits: Hits
    labelled: bool
    outputs: tuple[OutputError, ...]
    layers: tuple[LayerError, ...]
    rescaled: tuple[RescalingLoss, ...] = ()
    notes: tuple[str, ...] = ()
    original: Original | None = None
    classes: bool = True
    ranked: bool = True
    reference: Reference = "float network"

    @property
    def output_sqnr_db(self) -> float:
        """The SQNR of the worst output in dB; NaN if none is compared."""
        return worst_db(self.outputs)


def validate(
    deployment: Deployment,
    inputs: Iterable[Feed],
    *,
    labels: Labels | None = None,
    batch: int = 1,
    items: int | None = None,
    threads: int = 0,
    original: Network | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Compared:
    """Compare a runtime with float on `inputs` (at least one, arrays in stored order).

    Each input is a batch of `batch` items; `items` is their number without the padding of the
    last one, by default all are full. `labels` has the right classes of each item. `threads` share
    the inputs, or the work of a layer; 0 for one per core. `original` is the float network before
    its weights were equalised, if the deployed one was. Memory is bounded by the activations of an
    input for each thread.
    """
    observer = Observer(deployment, batch, original, threads)
    totals = Totals(observer.paired)
    results = observer.observe_each(counted(inputs, batch, items, labels))
    for index, observed in enumerate(results):
        totals.take(observed)
        progress(index + 1)
    return validation_of(deployment, totals, labelled=labels is not None)


def counted(
    inputs: Iterable[Feed], batch: int, items: int | None, labels: Labels | None, first: int = 0
) -> Iterator[Counted]:
    """Yield inputs with their items and labels, `first` being the number of the first of them.

    The other parameters are those of `validate`.
    """
    for index, feed in enumerate(inputs, first):
        at = index * batch
        count = batch if items is None else min(batch, items - at)
        yield Counted(feed, count, None if labels is None else labels[at : at + count])


def validation_of(deployment: Deployment, totals: Totals, *, labelled: bool) -> Compared:
    """Return the results after all inputs were added."""
    losses = rescaling_losses(deployment.loaded, deployment.signed_layers)
    equalised = totals.hits_before.inputs > 0
    return Compared(
        totals.hits,
        labelled,
        totals.outputs.each,
        totals.layers.errors(),
        losses,
        tuple(_notes(deployment.network)),
        Original(totals.hits_before, totals.outputs_before.each) if equalised else None,
        classes=labelled or is_classifier(deployment.network),
        ranked=scores_per_item(deployment.network) > TOP,
        reference=deployment.model.reference,
    )


def _notes(network: Network) -> Iterator[str]:
    """Yield a sentence for each output that is not compared itself, and why."""
    before = scores_before(network)
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


MOST = 8
"""Tensors that get a histogram, those with the lowest SQNR."""
BINS = 128
"""Largest number of bins of each histogram."""


@dataclass(frozen=True)
class Distribution:
    """A histogram of a tensor's float values, its encoding, and its `row` of the comparison."""

    row: LayerError
    encoding: Encoding
    histogram: Histogram


def distributions(
    network: Network,
    layers: Iterable[LayerError],
    inputs: Iterable[Feed],
    *,
    batch: int = 1,
    items: int | None = None,
    threads: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Distribution, ...]:
    """Count the float values of the quantised tensors of `layers` with the lowest SQNR.

    `network` and the inputs are those of the comparison. The lowest SQNR comes first; tensors
    without any error are left out.
    """
    coded = [(row, row.encoding) for row in layers if row.encoding and math.isfinite(row.sqnr_db)]
    lowest = sorted(coded, key=lambda pair: pair[0].sqnr_db)[:MOST]
    if not lowest:
        return ()
    network_inputs = set(network.inputs)
    computed = [row.tensor for row, _ in lowest if row.tensor not in network_inputs]
    engine = FloatEngine(network, outputs=computed, threads=threads) if computed else None
    histograms: dict[str, Histogram] = {}
    for index, item in enumerate(counted(inputs, batch, items, None)):
        values = dict(item.feed) if engine is None else {**item.feed, **engine.run(item.feed)}
        values_of = unpadded(values, batch, item.items)
        for row, _ in lowest:
            histogram = Histogram.of(values_of[row.tensor])
            before = histograms.get(row.tensor)
            histograms[row.tensor] = histogram if before is None else before.joined(histogram)
        progress(index + 1)
    return tuple(
        Distribution(row, encoding, histograms[row.tensor].coarser(BINS))
        for row, encoding in lowest
    )
