"""Classes: their names, scores and right ones; top-1 and top-5 against labels and float.

A file of names has one name per line, in the order of the classes. Source: the label files of
SNPE's tutorials, such as ilsvrc_2012_labels.txt (documented); AlexNet's has 1000 lines, Inception's
one more at the beginning. Blank lines at the end are ignored.

A file of labels has the class of every input, or the classes that are all right. Grammar:

1. One class index per line, in the order of the inputs; or, for inputs that have names, a name
   and its class per line, in any order, separated by blanks, a comma or both.
2. Where several classes are right they are separated by bars: 281|282|285.
3. Blank lines are skipped.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from hexsim.accuracy.output_errors import Array
from hexsim.errors import HexsimError, unknown
from hexsim.execution.executors import ListExecutor
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.source import InputSource
from hexsim.results.answers import Answer, Guess
from hexsim.texts.fields import finite
from hexsim.texts.text import lines, read_text, shortened, visible


def unpadded(values: Mapping[str, FloatArray], batch: int, count: int) -> Mapping[str, FloatArray]:
    """Return the first `count` items of every array that has `batch` of them."""
    if count == batch:
        return values
    return {n: a[:count] if a.ndim and a.shape[0] == batch else a for n, a in values.items()}


def unpadded_each(
    runs: Iterable[Mapping[str, FloatArray]], batch: int, items: int | None
) -> Iterator[Mapping[str, FloatArray]]:
    """Yield runs in order without the padding of the last one; without `items` all are full."""
    for index, values in enumerate(runs):
        count = batch if items is None else min(batch, items - index * batch)
        yield unpadded(values, batch, count)


def scores_of_items(scores: FloatArray, batch: int) -> Iterator[FloatArray]:
    """Yield the scores of each item; without batches all scores belong to one item."""
    if batch == 1:
        yield scores
    else:
        yield from scores


TOP = 5
"""Number of best classes for top-5."""


@dataclass
class Hits:
    """Counts over the inputs; counts against labels stay 0 without labels."""

    inputs: int = 0
    same_top1: int = 0
    float_top1: int = 0
    float_top5: int = 0
    runtime_top1: int = 0
    runtime_top5: int = 0

    def add(self, floats: FloatArray, outputs: FloatArray, right: Sequence[int] | None) -> None:
        """Add the scores of one input, in float and on the runtime.

        `right` has its right classes, any of which counts.
        """
        self.inputs += 1
        self.same_top1 += winner(floats) == winner(outputs)
        if right is not None:
            place_float, place_runtime = place(floats, right), place(outputs, right)
            self.float_top1 += place_float < 1
            self.float_top5 += place_float < TOP
            self.runtime_top1 += place_runtime < 1
            self.runtime_top5 += place_runtime < TOP

    def take(self, other: Hits) -> None:
        """Add the counts of other inputs."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def place(scores: FloatArray, right: Sequence[int]) -> int:
    """Return the rank of the best of `right`, from 0; of equal scores the lower index wins."""
    flat = scores.ravel()
    first = min(right, key=lambda label: (-flat[label], label))
    before = np.count_nonzero(flat > flat[first]) + np.count_nonzero(flat[:first] == flat[first])
    return int(before)


def winner(scores: Array) -> int:
    """Return the class of the highest score, the first of equal ones; -1 if there is no class."""
    return int(np.argmax(scores)) if scores.size else -1


def margin(scores: Array, label: int) -> float:
    """Return the score of `label` minus the best other one; negative where another class wins."""
    flat = scores.ravel()
    others = [part.max() for part in (flat[:label], flat[label + 1 :]) if part.size]
    return float(flat[label]) - float(np.max(others))


def read_class_names(path: Path, network: Network, batch: int = 1) -> tuple[str, ...]:
    """Read the names of the classes that the first output of `network` scores.

    Raises HexsimError unless there is one name per class, or if the output has no classes.
    """
    classes = count_classes(network, batch)
    text = read_text(path, "class names", "give one name per line", by_line=True)
    names = tuple(visible(line.strip()) for line in io.StringIO(text.rstrip(), newline=None))
    if len(names) != classes:
        raise HexsimError(
            f"class names '{path}' has {len(names)} names for the {classes} classes of output "
            f"'{network.outputs[0]}'; give one per line, in their order"
        )
    return names


_MOST_DIGITS = 18

Classes = tuple[int, ...]
"""All right classes of an input, at least one."""


def read_labels(
    path: Path, count: int, network: Network, names: Sequence[str] | None = None, batch: int = 1
) -> tuple[Classes, ...]:
    """Read the right classes of `count` inputs, which come in batches of `batch`.

    Raises HexsimError naming file and line for a line outside the grammar, another number of
    labels, a name that is unknown, missing or given twice, and a class that the first output of
    `network` does not have.
    """
    classes = count_classes(network, batch)
    rows = [(where, *_row(where, text, network, classes)) for where, text in _lines(path)]
    if names is not None and any(name is not None for _, name, _ in rows):
        return _by_name(path, rows, names)
    for where, name, _ in rows:
        if name is not None:
            raise HexsimError(
                f"{where}: '{shortened(name)}' is no class; give one integer per line, or several "
                "right ones as 281|282"
            )
    if len(rows) != count:
        raise HexsimError(
            f"label file '{path}' has {len(rows)} labels for {count} inputs; "
            "give one label per input, in their order"
        )
    return tuple(right for _, _, right in rows)


def _by_name(
    path: Path, rows: Sequence[tuple[str, str | None, Classes]], names: Sequence[str]
) -> tuple[Classes, ...]:
    labels: dict[str, Classes] = {}
    for where, name, right in rows:
        if name is None:
            raise HexsimError(f"{where}: '{right[0]}' has no name; name every input, or none")
        if name in labels:
            raise HexsimError(f"{where}: '{name}' has a class already; give each name once")
        if name not in names:
            raise HexsimError(f"{where}: {unknown('picture', name, names)}")
        labels[name] = right
    for name in names:
        if name not in labels:
            raise HexsimError(f"label file '{path}' has no class for '{name}'; add a line")
    return tuple(labels[name] for name in names)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines that are not blank, each with the name of its place for messages."""
    text = read_text(path, "label file", "give one integer per line", by_line=True)
    for number, line in lines(text):
        yield f"label file '{path}', line {number}", line


def _row(where: str, text: str, network: Network, classes: int) -> tuple[str | None, Classes]:
    """Return the name, if there is one, and the right classes of a line."""
    label = text.rsplit(maxsplit=1)[-1].rpartition(",")[2]
    words = label.split("|") if label else [text]
    for word in words:
        fits = word.isdecimal() and len(word.lstrip("0")) <= _MOST_DIGITS and int(word) < classes
        if not fits:
            form = "" if word.isdecimal() else "; a line is CLASS or NAME CLASS, without a heading"
            raise HexsimError(
                f"{where}: '{shortened(word)}' is no class; output '{network.outputs[0]}' has the "
                f"classes 0 to {classes - 1}{form}"
            )
    name = text.removesuffix(label).rstrip().removesuffix(",").rstrip()
    return (None if label == text else name), tuple(dict.fromkeys(map(int, words)))


def count_classes(network: Network, batch: int) -> int:
    """Return the number of classes of the first output; raise HexsimError if it has none."""
    output = network.tensors[network.outputs[0]]
    if output.varies:
        raise HexsimError(
            f"labels need class scores, and output '{output.name}' of network '{network.name}' is "
            "as large as values decide; leave the labels out"
        )
    if batch != batch_size(network) or output.dtype != "float32":
        raise HexsimError(
            f"labels need class scores of every input, and output '{output.name}' of "
            f"network '{network.name}' has others; resize it to a batch of 1"
        )
    return output.elements // batch


MOST = 5
"""Number of classes in an answer."""


def guesses(scores: FloatArray, names: Sequence[str] | None = None) -> tuple[Guess, ...]:
    """Return the most likely classes; of equal scores the lower index comes first."""
    flat = scores.ravel()
    best = [int(label) for label in np.argsort(-flat, kind="stable")[:MOST]]
    return tuple(
        Guess(label=n, name=(names[n] or None) if names else None, score=finite(float(flat[n])))
        for n in best
    )


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
                self.answers.append(Answer(file=file, top=guesses(score, self._names)))
            yield values
