"""The most likely classes of each input, and their scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.accuracy.items import scores_of_items
from hexsim.execution.subnet_executor import ListExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.source import InputSource

MOST = 5
"""Number of classes in an answer."""


@dataclass(frozen=True)
class Guess:
    """A class, its name if names are given, and its score in the network's output."""

    label: int
    name: str
    score: float


@dataclass(frozen=True)
class Answer:
    """The most likely classes of one input (its file, or its batch's), the best first."""

    file: str
    guesses: tuple[Guess, ...]


def guesses(scores: FloatArray, names: Sequence[str] | None = None) -> tuple[Guess, ...]:
    """Return the most likely classes; of equal scores the lower index comes first."""
    flat = scores.ravel()
    best = [int(label) for label in np.argsort(-flat, kind="stable")[:MOST]]
    return tuple(Guess(n, names[n] if names else "", float(flat[n])) for n in best)


class Answering:
    """An executor that collects the answers to the items of `source`, run in order."""

    def __init__(
        self,
        executor: ListExecutor,
        source: InputSource,
        network: Network,
        names: Sequence[str] | None = None,
    ) -> None:
        self.answers: list[Answer] = []
        self._executor = executor
        self._source = source
        self._output = network.outputs[0]
        self._files_of_a_line = len(network.inputs)
        self._names = names

    def run_each(
        self, feeds: Iterable[Mapping[str, FloatArray]]
    ) -> Iterator[dict[str, FloatArray]]:
        """Yield the executor's outputs for all sets of the source."""
        source = self._source
        for index, values in enumerate(self._executor.run_each(feeds)):
            files, remaining = source.files[index], source.items - index * source.batch
            scores = scores_of_items(values[self._output], source.batch)
            for item, score in zip(range(remaining), scores, strict=False):
                line = item // source.items_per_line
                file = files[line * self._files_of_a_line]
                self.answers.append(Answer(file, guesses(score, self._names)))
            yield values
