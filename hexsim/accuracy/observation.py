"""What a run of inputs says about a runtime beside float: found by an observer, added up by totals.

A set of inputs may be cut into runs at any place, and observers of other processes may look at
them. Totals take the runs in the order of the inputs, and do the same sums in the same order
whoever observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.items import scores_of_items, unpadded
from hexsim.accuracy.layer_errors import ErrorStream, TensorRun
from hexsim.accuracy.paired_run import MadeWhereUsed, Pair, PairedRun
from hexsim.accuracy.scores import before_choices
from hexsim.deployment import Deployment
from hexsim.execution.execution_contexts import contexts_for, is_small
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.threads.in_order import side_by_side

Feed = Mapping[str, FloatArray]
Labels = Sequence[Sequence[int]]

_LEAST = 1 << 15
"""Elements of tensors and constants for each tensor that is compared from which on inputs are dealt
out. Measured on two cores: with 15 000 two threads are as quick as one, with 60 000 much quicker.
Smaller networks have one thread, since two that share rows wait for each other.
"""


@dataclass(frozen=True)
class Counted:
    """An input as it counts: `items` of it without padding, with the right classes of each."""

    feed: Feed
    items: int
    labels: Labels | None = None


@dataclass
class ObservedAnswers:
    """What a network says to a run of inputs: the distance of each from float, and hits."""

    distances: list[Distance] = field(default_factory=list)
    hits: Hits = field(default_factory=Hits)

    def take(self, other: ObservedAnswers) -> None:
        """Take in what it says to the inputs behind these."""
        self.distances += other.distances
        self.hits.take(other.hits)


@dataclass(frozen=True)
class Observed:
    """What a run of inputs says; `before` is there where the reference was equalised."""

    tensors: Mapping[str, TensorRun]
    answers: ObservedAnswers
    before: ObservedAnswers | None


class Observer(MadeWhereUsed):
    """Runs both on inputs of `batch` items; `original` is the float network before equalisation.

    It may go to another process, where it makes its engines ready at the first input. `threads`
    share several inputs, or the work of a layer; 0 for one per core.
    """

    def __init__(
        self, deployment: Deployment, batch: int, original: Network | None, threads: int = 0
    ) -> None:
        self.paired, self.batch = PairedRun(deployment, threads), batch
        network = self.paired.network
        self._compared = _compared(network)
        self._floats = [n for n in self._compared if network.tensors[n].dtype == "float32"]
        self._original = original

    def observe(self, inputs: Iterable[Counted]) -> Observed:
        """Run both on a run of inputs."""
        whole = self._nothing()
        for one in self.observe_each(inputs):
            for name, run in whole.tensors.items():
                run.take(one.tensors[name])
            whole.answers.take(one.answers)
            if whole.before is not None and one.before is not None:
                whole.before.take(one.before)
        return whole

    def observe_each(self, inputs: Iterable[Counted]) -> Iterator[Observed]:
        """Yield what each of the inputs says by itself, some of which are read ahead.

        They are run and compared side by side where that is faster.
        """
        network, visits = self.paired.network, len(self.paired.measured)
        if is_small(network, least=_LEAST, visits=visits):
            one = self._of_one_thread
            return map(partial(one._observed, run=one.paired.run), inputs)
        single = partial(self._observed, run=self.paired.run)
        count = contexts_for(network, self.paired.threads, least=_LEAST, visits=visits)
        if count == 1:
            return map(single, inputs)
        return side_by_side(inputs, single, partial(self._contexts, count))

    def _contexts(self, count: int) -> list[Callable[[Counted], Observed]]:
        """So many observers side by side, each of one thread."""
        one = self._of_one_thread
        if one._original is not None:
            _ = one._given_engine  # made before several ask for it
        return [partial(one._observed, run=run) for run in one.paired.contexts(count)]

    @cached_property
    def _of_one_thread(self) -> Observer:
        """The same with engines of its own, which it keeps."""
        one = copy(self)
        one.paired = copy(self.paired)
        one.paired.threads = 1
        return one

    def _observed(self, one: Counted, run: Callable[[Feed], Pair]) -> Observed:
        """What one input says if `run` runs both."""
        found = self._nothing()
        floats, others = (unpadded(values, self.batch, one.items) for values in run(one.feed))
        for name, tensor in found.tensors.items():
            tensor.add(floats[name], others[name], self.paired.encodings.get(name))
        self._add(found.answers, floats, others, one.labels)
        if found.before is not None:
            given = unpadded(self._given(one.feed), self.batch, one.items)
            self._add(found.before, given, others, one.labels)
        return found

    def _nothing(self) -> Observed:
        """What no inputs say."""
        tensors = {name: TensorRun() for name in self.paired.measured}
        return Observed(
            tensors, ObservedAnswers(), None if self._original is None else ObservedAnswers()
        )

    def _add(
        self, answers: ObservedAnswers, floats: Feed, others: Feed, labels: Labels | None
    ) -> None:
        distance, first = Distance(), self._compared[0]
        for name in self._floats:
            distance.add(floats[name], others[name])
        answers.distances.append(distance)
        items = (scores_of_items(values[first], self.batch) for values in (floats, others))
        for index, (expected, found) in enumerate(zip(*items, strict=True)):
            answers.hits.add(expected, found, None if labels is None else labels[index])

    def _given(self, feed: Feed) -> Feed:
        """What the float network says as it was; its answers have the names of the equalised."""
        found = self._given_engine.run(feed)
        own = _compared(self._given_network)
        return {name: found[mine] for name, mine in zip(self._compared, own, strict=True)}

    @property
    def _given_network(self) -> Network:
        assert self._original is not None, "asked for where there is one"
        return self._original

    @cached_property
    def _given_engine(self) -> FloatEngine:
        network = self._given_network
        return FloatEngine(network, outputs=_compared(network), threads=self.paired.threads)


class Totals:
    """All that was observed, in the order of the inputs; memory does not grow with them."""

    def __init__(self, paired: PairedRun) -> None:
        self.layers = ErrorStream(paired)
        self.answers, self.hits = Distance(), Hits()
        self.before, self.hits_before = Distance(), Hits()

    def take(self, observed: Observed) -> None:
        """Take in the next run of inputs."""
        self.layers.take(observed.tensors)
        _take(observed.answers, self.answers, self.hits)
        if observed.before is not None:
            _take(observed.before, self.before, self.hits_before)


def _take(answers: ObservedAnswers, distance: Distance, hits: Hits) -> None:
    for one in answers.distances:
        distance.take(one)
    hits.take(answers.hits)


def _compared(network: Network) -> tuple[str, ...]:
    """The outputs, or what those that are chosen are chosen from."""
    before = before_choices(network)
    return tuple(dict.fromkeys(n for o in network.outputs for n in before.get(o, (o,))))
