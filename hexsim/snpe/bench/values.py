"""Compares the answers of a flavour on the user's inputs with those in float.

An answer is the class with the largest score, as in `hexsim validate`; if the network is no
classifier, it is the position of the largest number of its first output. A quantised file has only
quantised weights, so the float answers come from their real values or from the float file that it
was made from. Buffers of quantised inputs have a range of their own for each set of inputs, as in
snpe-net-run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.files.atomic_write import write_text
from hexsim.records import asdict, dataclass
from hexsim.snpe.buffers import Buffers
from hexsim.texts.trees import parse_json

if TYPE_CHECKING:
    from hexsim.accuracy.classes import Classes
    from hexsim.deployment import Deployment
    from hexsim.graph.ir import FloatArray, Network
    from hexsim.inputs.source import InputSource

FILE = "answers.json"


@dataclass(frozen=True)
class AgreeingAnswers:
    """How many of the `items` of the inputs have the same answer as in float.

    `right` and `float_right` count the answers that are right; None if nobody said which are.
    """

    items: int
    same: int
    right: int | None = None
    float_right: int | None = None

    @property
    def verdict(self) -> str:
        """The word "right" if all answers are the same, else "wrong"."""
        return "right" if self.same == self.items else "wrong"


class Values:
    """The float answers on some inputs, computed once for all flavours."""

    def __init__(
        self, network: Network, source: InputSource, labels: Sequence[Classes] | None = None
    ) -> None:
        self._network = network
        self._source = source
        self._labels = labels

    def of(self, folder: Path, deployment: Deployment, user_buffer: str) -> AgreeingAnswers:
        """Compare a flavour with float and write the result, or read it from `folder`."""
        answers = _read(folder / FILE)
        if answers is None:
            answers = self._compared(deployment, user_buffer)
            write_text(folder / FILE, json.dumps(asdict(answers)) + "\n")
        return answers

    def _compared(self, deployment: Deployment, user_buffer: str) -> AgreeingAnswers:
        from hexsim.accuracy.scores import class_scores

        scores = deployment.over(class_scores(deployment.network))
        buffers = Buffers(input_buffers=user_buffer or None, output_buffers="float")
        values = buffers.around(scores).run_each(self._source.feeds())
        answers = list(self._answers(values, scores.network.outputs[0]))
        pairs = zip(self._in_float, answers, strict=True)
        same = sum(expected == actual for expected, actual in pairs)
        right = (self._right(each) for each in (answers, self._in_float))
        return AgreeingAnswers(len(answers), same, *right)

    def _right(self, answers: Sequence[int]) -> int | None:
        if self._labels is None:
            return None
        return sum(answer in right for answer, right in zip(answers, self._labels, strict=True))

    @cached_property
    def _in_float(self) -> list[int]:
        from hexsim.accuracy.scores import class_scores
        from hexsim.onnx_io.float_engine import FloatEngine

        network = class_scores(self._network)
        values = map(FloatEngine(network).run, self._source.feeds())
        return list(self._answers(values, network.outputs[0]))

    def _answers(self, values: Iterable[Mapping[str, FloatArray]], output: str) -> Iterator[int]:
        from hexsim.accuracy.classes import scores_of_items, unpadded, winner

        source = self._source
        for index, value in enumerate(values):
            count = min(source.batch, source.items - index * source.batch)
            scores = unpadded(value, source.batch, count)[output]
            yield from map(winner, scores_of_items(scores, source.batch))


def _read(path: Path) -> AgreeingAnswers | None:
    try:
        return AgreeingAnswers(**parse_json(path.read_text("utf-8"), str(path)))
    except (OSError, ValueError, TypeError, HexsimError):
        return None
