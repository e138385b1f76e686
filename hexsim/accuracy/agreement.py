"""Agreement of runtimes with the float network, all over the same set of inputs.

What runtimes share is computed once: the float outputs, as far as they are small, and the agreement
of runtimes with equal arithmetic. Memory is bounded by one inference of both and `KEPT` elements,
however many inputs there are.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import tee

from hexsim.accuracy.classes import Hits, margin, scores_of_items, unpadded_each, winner
from hexsim.accuracy.output_errors import OutputErrors
from hexsim.accuracy.scores import class_scores, compared_floats, is_classifier, probabilities
from hexsim.deployment import Deployment
from hexsim.execution.arithmetic import Arithmetic
from hexsim.files.remembered import Remembered
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.results.accuracy import Accuracy, worst_db
from hexsim.texts.fields import finite

Outputs = Mapping[str, FloatArray]


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
) -> Accuracy:
    """Compare two runs over the same inputs, output arrays by tensor name for each.

    The first output is read as class scores if the network is a classifier (`classes`). The
    remaining share of the float margins between winner and runner-up is summed over the inputs;
    below 0 the winner changed.

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
    ratio = runtime_margins / float_margins if float_margins else None
    return Accuracy(
        compared_on="",
        inputs=hits.inputs if items is None else items,
        sqnr_db=finite(worst_db(errors.each)),
        top1_agreement=hits.same_top1 if classes else None,
        top1_right=None if labels is None else hits.runtime_top1,
        float_top1_right=None if labels is None else hits.float_top1,
        top1_margin_ratio=finite(ratio) if classes else None,
        outputs=errors.each,
    )


Feed = Mapping[str, FloatArray]
Feeds = Callable[[], Iterable[Feed]]

KEPT = 1 << 26
"""Elements of float outputs that are cached (256 MiB); others are computed for each runtime.
A thousand classes of 67 000 images have as many."""


class FloatOutputs:
    """The float values of tensors of `network` for each input, as far as they are small.

    onnxruntime computes all of `computed`, which decides what it fuses and so the last bits of the
    values, and those of `names` are returned.
    """

    def __init__(
        self, network: Network, computed: Sequence[str] | None = None, names: Sequence[str] = ()
    ) -> None:
        self.network = network
        self._computed = network.outputs if computed is None else computed
        self._names = [name for name in names if name in self._computed] or self._computed
        self._cached: list[Outputs] = []
        self._elements = 0

    def each(self, feeds: Iterable[Feed]) -> Iterator[tuple[Feed, Outputs]]:
        """Yield each of `feeds`, the inputs from the first on, with its values."""
        engine: FloatEngine | None = None
        for index, feed in enumerate(feeds):
            if index < len(self._cached):
                yield feed, self._cached[index]
                continue
            engine = engine or FloatEngine(self.network, self._computed)
            values = engine.run(feed)
            outputs = {name: values[name] for name in self._names}
            self._elements += sum(array.size for array in outputs.values())
            if index == len(self._cached) and self._elements <= KEPT:
                self._cached.append(outputs)
            yield feed, outputs


class Agreements:
    """Compares runtimes with the class scores of `network` in float.

    `feeds` yields the inputs, arrays in stored order, and yields them again for each runtime;
    they have `items` items without padding, by default all are full batches. `labels` has the
    right classes of each item.
    """

    def __init__(
        self,
        network: Network,
        feeds: Feeds,
        items: int | None = None,
        labels: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self._floats = FloatOutputs(class_scores(network))
        self._compare = partial(
            agreement,
            classes=is_classifier(network),
            names=(names := compared_floats(network)),
            probabilities=probabilities(network, names),
            batch=batch_size(network),
            items=items,
            labels=labels,
        )
        self._feeds = feeds
        self._known = Remembered[Arithmetic, Accuracy]()

    def of(self, deployment: Deployment) -> Accuracy:
        """Return the agreement of a deployed model with float."""
        scored = deployment.over(class_scores(deployment.network))
        arithmetic, network = scored.arithmetic, self._floats.network
        float_subnets = [("float32", network.layers, network.inputs, network.outputs)]

        def compared() -> Accuracy:
            references = (outputs for _, outputs in self._floats.each(self._feeds()))
            if arithmetic.model == Model(network) and list(arithmetic.subnets) == float_subnets:
                return self._compare(*tee(references))
            return self._compare(references, scored.executor().run_each(self._feeds()))

        return self._known.part(arithmetic, compared)
