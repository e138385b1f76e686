"""Agreement of a runtime with the float network over a set of inputs."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hexsim.accuracy.classification import Hits, margin, winner
from hexsim.accuracy.items import scores_of_items, unpadded_each
from hexsim.accuracy.output_errors import OutputError, OutputErrors, worst_db
from hexsim.graph.ir import FloatArray

Outputs = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Agreement:
    """Outputs of one runtime against float, over `inputs` inputs.

    `outputs` are the compared tensors; the worst of them gives `sqnr_db`, NaN if there are none.
    The other figures read the first output as class scores: `top1` counts inputs with the same
    winner, `margin_ratio` is the remaining share of the float margins between winner and runner-up,
    summed over the inputs (below 0: the winner changed). They mean something only if `classes`: the
    network is a classifier. `right` and `float_right` count the inputs whose right class wins, on
    the runtime and in float; None if nobody said which that is.
    """

    inputs: int
    outputs: tuple[OutputError, ...]
    top1: int
    margin_ratio: float
    classes: bool = True
    right: int | None = None
    float_right: int | None = None

    @property
    def sqnr_db(self) -> float:
        """The SQNR of the worst output in dB."""
        return worst_db(self.outputs)


def agreement(
    reference: Iterable[Outputs],
    runtime: Iterable[Outputs],
    *,
    classes: bool = True,
    names: Sequence[str] | None = None,
    probabilities: Collection[str] = (),
    batch: int = 1,
    items: int | None = None,
    labels: Sequence[Sequence[int]] | None = None,
) -> Agreement:
    """Compare two runs over the same inputs, output arrays by tensor name for each.

    `names` are the tensors of the SQNR, by default all, and `probabilities` those among them. An
    input is an item; a run has `batch` of them, and all runs together `items`, by default all that
    they hold. `labels` has the right classes of each item.
    Memory is bounded by the outputs of one input, if both are iterators.
    """
    hits, runtime_margins, float_margins = Hits(), 0.0, 0.0
    errors = OutputErrors(probabilities)
    pairs = zip(*(unpadded_each(r, batch, items) for r in (reference, runtime)), strict=True)
    for floats, outputs in pairs:
        compared = floats if names is None else {name: floats[name] for name in names}
        errors.add(compared, outputs)
        first = next(iter(floats))
        scores = (scores_of_items(values[first], batch) for values in (floats, outputs))
        for expected, actual in zip(*scores, strict=True):
            hits.add(expected, actual, None if labels is None else labels[hits.inputs])
            best = winner(expected)
            if expected.size > 1:
                float_margins += margin(expected, best)
                runtime_margins += margin(actual, best)
    ratio = runtime_margins / float_margins if float_margins else math.nan
    counts = hits.inputs if items is None else items, errors.each, hits.same_top1, ratio, classes
    right = () if labels is None else (hits.runtime_top1, hits.float_top1)
    return Agreement(*counts, *right)
