"""Compare a runtime with float on runs of inputs: observers measure, totals add up.

A set of inputs may be split into runs anywhere, and other processes may observe some of them.
Totals take the runs in the order of the inputs, so the sums are the same whoever observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial

from hexsim.accuracy.classification import Hits, scores_of_items, unpadded
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.layer_errors import ErrorStream, TensorRun
from hexsim.accuracy.output_errors import OutputErrors
from hexsim.accuracy.paired_run import MadeWhereUsed, Pair, PairedRun
from hexsim.accuracy.scores import before_choices, compared_floats, probabilities
from hexsim.deployment import Deployment
from hexsim.execution.execution_contexts import contexts_for, is_small
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.threads.in_order import side_by_side

Feed = Mapping[str, FloatArray]
Labels = Sequence[Sequence[int]]

_LEAST = 1 << 15
"""Elements of tensors and constants per compared tensor, from which inputs are shared by threads.

Measured on two cores: with 15 000 two threads are as quick as one, with 60 000 much quicker.
Smaller networks have one thread, since two that share rows wait for each other.
"""


@dataclass(frozen=True)
class Counted:
    """An input: its number of `items` without padding, and the right classes of each."""

    feed: Feed
    items: int
    labels: Labels | None = None


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
    layer; 0 for one per core.
    """

    def __init__(
        self, deployment: Deployment, batch: int, original: Network | None, threads: int = 0
    ) -> None:
        self.paired, self.batch = PairedRun(deployment, threads), batch
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
        network, visits = self.paired.network, len(self.paired.measured)
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

    def _observed(self, item: Counted, run: Callable[[Feed], Pair]) -> Observed:
        """Compare on one input; `run` runs both networks."""
        observed = self._nothing()
        floats, outputs = (unpadded(values, self.batch, item.items) for values in run(item.feed))
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
