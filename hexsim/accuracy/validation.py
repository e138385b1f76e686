"""Validation: inputs run in float and on a runtime, compared, and counted in a second pass.

A set of inputs may be split into runs anywhere, and other processes may observe some of them.
Totals take the runs in the order of the inputs, so the sums are the same whoever observed.

The second pass makes histograms of the float values of the tensors with most error, beside their
encodings. These tensors are known only after the first pass over all inputs. So the values are
counted in a second one, of the float network alone; counting every tensor in the first would take
longer. In both, the padding of the last input does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import repeat

from hexsim.accuracy.agreement import FloatOutputs
from hexsim.accuracy.classes import TOP, Hits, scores_of_items, unpadded
from hexsim.accuracy.layer_errors import (
    ErrorStream,
    MadeWhereUsed,
    PairedRun,
    Run,
    TensorRun,
    observable,
)
from hexsim.accuracy.output_errors import Distance, OutputErrors
from hexsim.accuracy.rescaling import rescaling_losses
from hexsim.accuracy.scores import (
    before_choices,
    compared_floats,
    is_classifier,
    probabilities,
    scores_before,
    scores_per_item,
)
from hexsim.deployment import Deployment
from hexsim.execution.executors import contexts_for, is_small
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.observation import Histogram
from hexsim.records import dataclass, field
from hexsim.results.accuracy import OutputAccuracy, as_db, worst_db
from hexsim.results.validation import (
    BeforeEqualization,
    Distribution,
    HitCounts,
    TensorError,
    Validation,
)
from hexsim.texts.fields import finite, taken
from hexsim.threads import side_by_side

Feed = Mapping[str, FloatArray]
Labels = Sequence[Sequence[int]]

_LEAST = 1 << 15
"""Elements of tensors and constants per compared tensor, from which inputs are shared by threads.

Measured on two cores: with 15 000 two threads are as quick as one, with 60 000 much quicker.
Smaller networks have one thread, since two that share rows wait for each other.
"""


@dataclass(frozen=True)
class Counted:
    """An input: its number of `items` without padding, and the right classes of each.

    `floats` are the values of the compared tensors in float, if they are known.
    """

    feed: Feed
    items: int
    labels: Labels | None = None
    floats: Feed | None = None


@dataclass
class ObservedAnswers:
    """A network's answers to a run of inputs: the hits, and for each input the distances.

    They are those of the compared tensors from float, by name.
    """

    distances: list[Mapping[str, Distance]] = field(default_factory=list)
    hits: Hits = field(default_factory=Hits)

    def take(self, other: ObservedAnswers) -> None:
        """Append the answers to the following inputs."""
        self.distances += other.distances
        self.hits.take(other.hits)


@dataclass(frozen=True)
class Observed:
    """The comparison on a run of inputs; `before` is set where the reference was equalised."""

    tensors: Mapping[str, TensorRun]
    answers: ObservedAnswers
    before: ObservedAnswers | None


class Observer(MadeWhereUsed):
    """Runs runtime and float on inputs of `batch` items.

    `original` is the float network before equalisation. An observer may be sent to another process,
    which prepares its engines at the first input. `threads` share several inputs, or the work of a
    layer; 0 for one per core. Without `layers` only outputs are compared, with floats that are
    known.
    """

    def __init__(
        self,
        deployment: Deployment,
        batch: int,
        original: Network | None,
        threads: int = 0,
        *,
        layers: bool = True,
    ) -> None:
        self.paired, self.batch = PairedRun(deployment, threads, layers=layers), batch
        network = self.paired.network
        self._compared = _compared(network)
        self._floats = compared_floats(network)
        self._original = original

    def observe(self, inputs: Iterable[Counted]) -> Observed:
        """Run both on a run of inputs."""
        total = self._nothing()
        for observed in self.observe_each(inputs):
            for name, run in total.tensors.items():
                run.take(observed.tensors[name])
            total.answers.take(observed.answers)
            if total.before is not None and observed.before is not None:
                total.before.take(observed.before)
        return total

    def observe_each(self, inputs: Iterable[Counted]) -> Iterator[Observed]:
        """Yield the comparison on each input; some inputs are read ahead.

        They are run and compared in parallel where that is faster.
        """
        network, visits = self.paired.network, len(self.paired.tensors)
        if is_small(network, least=_LEAST, visits=visits):
            observer = self._of_one_thread
            return map(partial(observer._observed, run=observer.paired.run), inputs)
        single = partial(self._observed, run=self.paired.run)
        count = contexts_for(network, self.paired.threads, least=_LEAST, visits=visits)
        if count == 1:
            return map(single, inputs)
        return side_by_side(inputs, single, partial(self._contexts, count))

    def _contexts(self, count: int) -> list[Callable[[Counted], Observed]]:
        observer = self._of_one_thread
        if observer._original is not None:
            _ = observer._given_engine  # created before several threads use it
        return [partial(observer._observed, run=run) for run in observer.paired.contexts(count)]

    @cached_property
    def _of_one_thread(self) -> Observer:
        """The same observer with engines of its own."""
        observer = copy(self)
        observer.paired = copy(self.paired)
        observer.paired.threads = 1
        return observer

    def _observed(self, item: Counted, run: Run) -> Observed:
        observed = self._nothing()
        pair = run(item.feed, item.floats)
        floats, outputs = (unpadded(values, self.batch, item.items) for values in pair)
        for name, tensor in observed.tensors.items():
            tensor.add(floats[name], outputs[name], self.paired.encodings.get(name))
        self._add(observed.answers, floats, outputs, item.labels)
        if observed.before is not None:
            given_outputs = unpadded(self._given(item.feed), self.batch, item.items)
            self._add(observed.before, given_outputs, outputs, item.labels)
        return observed

    def _nothing(self) -> Observed:
        tensors = {name: TensorRun() for name in self.paired.measured}
        return Observed(
            tensors, ObservedAnswers(), None if self._original is None else ObservedAnswers()
        )

    def _add(
        self, answers: ObservedAnswers, floats: Feed, outputs: Feed, labels: Labels | None
    ) -> None:
        first = self._compared[0]
        answers.distances.append(
            {name: Distance.between(floats[name], outputs[name]) for name in self._floats}
        )
        items = (scores_of_items(values[first], self.batch) for values in (floats, outputs))
        for index, (expected, actual) in enumerate(zip(*items, strict=True)):
            answers.hits.add(expected, actual, None if labels is None else labels[index])

    def _given(self, feed: Feed) -> Feed:
        """Run the float network before equalisation; outputs get the equalised one's names."""
        outputs = self._given_engine.run(feed)
        names = _compared(self._given_network)
        return {
            name: outputs[given_name]
            for name, given_name in zip(self._compared, names, strict=True)
        }

    @property
    def _given_network(self) -> Network:
        assert self._original is not None, "only called where there is one"
        return self._original

    @cached_property
    def _given_engine(self) -> FloatEngine:
        network = self._given_network
        return FloatEngine(network, outputs=_compared(network), threads=self.paired.threads)


class Totals:
    """The sums of all runs, in the order of the inputs; memory does not grow with them."""

    def __init__(self, paired: PairedRun) -> None:
        self.layers = ErrorStream(paired)
        of_kind = probabilities(paired.network, _compared(paired.network))
        self.outputs, self.hits = OutputErrors(of_kind), Hits()
        self.outputs_before, self.hits_before = OutputErrors(of_kind), Hits()

    def take(self, observed: Observed) -> None:
        """Add the next run of inputs."""
        self.layers.take(observed.tensors)
        _take(observed.answers, self.outputs, self.hits)
        if observed.before is not None:
            _take(observed.before, self.outputs_before, self.hits_before)


def _take(answers: ObservedAnswers, outputs: OutputErrors, hits: Hits) -> None:
    for distances in answers.distances:
        outputs.take(distances)
    hits.take(answers.hits)


def _compared(network: Network) -> tuple[str, ...]:
    """Return the tensor in which classes are counted, then those of the SQNR of the outputs."""
    first = network.outputs[0]
    counted = before_choices(network).get(first, (first,))[0]
    return tuple(dict.fromkeys((counted, *compared_floats(network))))


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
) -> Validation:
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


def float_outputs(network: Network) -> FloatOutputs:
    """Return the float values of the compared tensors, which several runtimes may share.

    They are those of `validate`, bit by bit.
    """
    return FloatOutputs(network, observable(network), _compared(network))


def answers(
    deployment: Deployment,
    inputs: Iterable[Feed],
    floats: FloatOutputs,
    *,
    labels: Labels | None = None,
    batch: int = 1,
    items: int | None = None,
) -> tuple[HitCounts, tuple[OutputAccuracy, ...]]:
    """Return what `validate` says of the outputs alone; `floats` are those of its network."""
    observer = Observer(deployment, batch, None, layers=False)
    totals = Totals(observer.paired)
    for observed in observer.observe_each(counted(inputs, batch, items, labels, floats=floats)):
        totals.take(observed)
    counts = _counts(totals.hits, deployment.network, labelled=labels is not None)
    return counts, totals.outputs.each


def counted(
    inputs: Iterable[Feed],
    batch: int,
    items: int | None,
    labels: Labels | None,
    first: int = 0,
    floats: FloatOutputs | None = None,
) -> Iterator[Counted]:
    """Yield inputs with their items and labels, `first` being the number of the first of them.

    Each has its values in `floats`, if they are given. The other parameters are those of
    `validate`.
    """
    pairs = zip(inputs, repeat(None)) if floats is None else floats.each(inputs)
    for index, (feed, values) in enumerate(pairs, first):
        at = index * batch
        count = batch if items is None else min(batch, items - at)
        yield Counted(feed, count, None if labels is None else labels[at : at + count], values)


def validation_of(deployment: Deployment, totals: Totals, *, labelled: bool) -> Validation:
    """Return the results after all inputs were added; `outputs` are those of `compared_floats`."""
    outputs, equalised = totals.outputs.each, totals.hits_before.inputs > 0
    before = totals.outputs_before.each
    counts = partial(_counts, network=deployment.network, labelled=labelled)
    return Validation(
        network=deployment.network.name,
        chip=deployment.platform.chip.name,
        runtime=deployment.runtime,
        hits=counts(totals.hits),
        output_sqnr_db=finite(worst_db(outputs)),
        output_sqnr_reference=deployment.model.reference,
        output_notes=tuple(_notes(deployment.network)),
        outputs=outputs,
        before_equalization=BeforeEqualization(
            hits=counts(totals.hits_before), output_sqnr_db=finite(worst_db(before)), outputs=before
        )
        if equalised
        else None,
        layers=totals.layers.errors(),
        rescaled_weights=rescaling_losses(deployment.loaded, deployment.signed_layers),
    )


def _counts(hits: Hits, network: Network, *, labelled: bool) -> HitCounts:
    """Return the counts that mean something: winners only with classes, others with labels.

    With no more than five classes all of them are among the best five.
    """
    top5 = {"float_top5": None, "runtime_top5": None}
    unlabelled = {"float_top1": None, "runtime_top1": None, **top5}
    left_out = {} if labelled or is_classifier(network) else {"same_top1": None}
    left_out |= unlabelled if not labelled else {} if scores_per_item(network) > TOP else top5
    return taken(HitCounts, hits, **left_out)


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


def distributions(
    network: Network,
    layers: Iterable[TensorError],
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
    coded = [(row, row.encoding) for row in layers if row.encoding and row.sqnr_db is not None]
    lowest = sorted(coded, key=lambda pair: as_db(pair[0].sqnr_db))[:MOST]
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
        _distribution(row, encoding, histograms[row.tensor].coarser(BINS))
        for row, encoding in lowest
    )


def _distribution(row: TensorError, encoding: Encoding, histogram: Histogram) -> Distribution:
    return taken(
        Distribution,
        row,
        encoding=encoding,
        first_bin=histogram.low,
        bin_width=histogram.width,
        counts=tuple(histogram.counts.tolist()),
    )
