"""What a run of inputs says about a runtime beside float: found by an observer, added up by totals.

A set of inputs may be cut into runs at any place, and observers of other processes may look at
them. Totals take the runs in the order of the inputs, and do the same sums in the same order
whoever observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.items import scores_of_items, unpadded
from hexsim.accuracy.layer_errors import ErrorStream, TensorRun
from hexsim.accuracy.scores import before_choices
from hexsim.accuracy.twin import MadeWhereUsed, Twin
from hexsim.deployment import Deployment
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine

Feed = Mapping[str, FloatArray]
Labels = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Counted:
    """An input as it counts: `items` of it without padding, with the right classes of each."""

    feed: Feed
    items: int
    labels: Labels | None = None


@dataclass
class Answers:
    """What a network says to a run of inputs: the distance of each from float, and hits."""

    distances: list[Distance] = field(default_factory=list)
    hits: Hits = field(default_factory=Hits)


@dataclass(frozen=True)
class Observed:
    """What a run of inputs says; `before` is there where the reference was equalised."""

    tensors: Mapping[str, TensorRun]
    answers: Answers
    before: Answers | None


class Observer(MadeWhereUsed):
    """Runs both on inputs of `batch` items; `original` is the float network before equalisation.

    It may go to another process, where it makes its engines ready at the first input. `threads`
    share the work of a layer, 0 for one per core.
    """

    def __init__(
        self, deployment: Deployment, batch: int, original: Network | None, threads: int = 0
    ) -> None:
        self.twin, self.batch = Twin(deployment, threads), batch
        network = self.twin.network
        self._compared = _compared(network)
        self._floats = [n for n in self._compared if network.tensors[n].dtype == "float32"]
        self._original = original

    def observe(self, inputs: Iterable[Counted]) -> Observed:
        """Run both on a run of inputs."""
        answers = Answers()
        before = None if self._original is None else Answers()
        tensors = {name: TensorRun() for name in self.twin.measured}
        for one in inputs:
            pair = self.twin.run(one.feed)
            floats, others = (unpadded(values, self.batch, one.items) for values in pair)
            for name, run in tensors.items():
                run.add(floats[name], others[name], self.twin.encodings.get(name))
            self._add(answers, floats, others, one.labels)
            if before is not None:
                given = unpadded(self._given(one.feed), self.batch, one.items)
                self._add(before, given, others, one.labels)
        return Observed(tensors, answers, before)

    def _add(self, answers: Answers, floats: Feed, others: Feed, labels: Labels | None) -> None:
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
        return FloatEngine(network, outputs=_compared(network), threads=self.twin.threads)


class Totals:
    """All that was observed, in the order of the inputs; memory does not grow with them."""

    def __init__(self, twin: Twin) -> None:
        self.layers = ErrorStream(twin)
        self.answers, self.hits = Distance(), Hits()
        self.before, self.hits_before = Distance(), Hits()

    def take(self, observed: Observed) -> None:
        """Take in the next run of inputs."""
        self.layers.take(observed.tensors)
        _take(observed.answers, self.answers, self.hits)
        if observed.before is not None:
            _take(observed.before, self.before, self.hits_before)


def _take(answers: Answers, distance: Distance, hits: Hits) -> None:
    for one in answers.distances:
        distance.take(one)
    hits.take(answers.hits)


def _compared(network: Network) -> tuple[str, ...]:
    """The outputs, or what those that are chosen are chosen from."""
    before = before_choices(network)
    return tuple(dict.fromkeys(n for o in network.outputs for n in before.get(o, (o,))))
