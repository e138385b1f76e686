"""Compare the runtimes of one network with float, all on the same inputs.

What runtimes share is computed once: the float outputs, as far as they are small, and the agreement
of runtimes with equal arithmetic. Memory is bounded by one inference of both and `KEPT` elements,
however many inputs there are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import tee

from hexsim.accuracy.agreement import Agreement, Outputs, agreement
from hexsim.accuracy.scores import class_scores, compared_floats, is_classifier, probabilities
from hexsim.deployment import Deployment
from hexsim.execution.arithmetic import Arithmetic
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.batches import batch_size
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model

Feeds = Callable[[], Iterable[Mapping[str, FloatArray]]]

KEPT = 1 << 26
"""Elements of float outputs that are cached (256 MiB); others are computed for each runtime.
A thousand classes of 67 000 images have as many."""


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
        self._network = class_scores(network)
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
        self._known: list[tuple[Arithmetic, Agreement]] = []
        self._cached: list[Outputs] = []
        self._elements = 0
        self._engine: FloatEngine | None = None

    def of(self, deployment: Deployment) -> Agreement:
        """Return the agreement of a deployed model with float."""
        scored = deployment.over(class_scores(deployment.network))
        arithmetic = scored.arithmetic
        for other_arithmetic, result in self._known:
            if other_arithmetic == arithmetic:
                return result
        if self._is_reference(arithmetic):
            result = self._compare(*tee(self._references()))
        else:
            runs = scored.executor().run_each(self._feeds())
            result = self._compare(self._references(), runs)
        self._known.append((arithmetic, result))
        return result

    def _is_reference(self, arithmetic: Arithmetic) -> bool:
        """Return True for the arithmetic of the float network run as a whole."""
        network = self._network
        float_subnets = [("float32", network.layers, network.inputs, network.outputs)]
        return arithmetic.model == Model(network) and list(arithmetic.subnets) == float_subnets

    def _references(self) -> Iterator[Outputs]:
        """Yield the float outputs of each input, cached or computed."""
        count = 0
        for count, feed in enumerate(self._feeds(), start=1):
            if count <= len(self._cached):
                yield self._cached[count - 1]
                continue
            self._engine = self._engine or FloatEngine(self._network)
            outputs = self._engine.run(feed)
            self._elements += sum(array.size for array in outputs.values())
            if count == len(self._cached) + 1 and self._elements <= KEPT:
                self._cached.append(outputs)
            yield outputs
        if count == len(self._cached):
            self._engine = None
