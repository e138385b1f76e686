"""How near the runtimes of one network come to it in float, all on the same inputs.

What is equal between runtimes is computed once: the float outputs, as far as they are small, and
the agreement of runtimes with equal arithmetic. Memory is bounded by one inference of both and
`KEPT` elements, however many inputs there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import tee

from hexsim.accuracy.agreement import Agreement, Outputs, agreement
from hexsim.accuracy.scores import class_scores, is_classifier
from hexsim.deployment import Deployment
from hexsim.execution.arithmetic import Arithmetic
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.model import Model

Feeds = Callable[[], Iterable[Mapping[str, FloatArray]]]

KEPT = 1 << 26
"""Elements of float outputs that are kept, 256 MiB of them; others are computed for each runtime.
A thousand classes of 67 000 pictures have as many."""


class Agreements:
    """Compares runtimes with the class scores of `network` in float.

    `feeds` yields the inputs, arrays in stored order, and yields them again for each runtime.
    """

    def __init__(self, network: Network, feeds: Feeds) -> None:
        self._network = class_scores(network)
        self._classes = is_classifier(network)
        self._feeds = feeds
        self._known: list[tuple[Arithmetic, Agreement]] = []
        self._kept: list[Outputs] = []
        self._elements = 0
        self._engine: FloatEngine | None = None

    def of(self, deployment: Deployment) -> Agreement:
        """How near a runtime and what it loaded come to float."""
        scored = deployment.over(class_scores(deployment.network))
        arithmetic = scored.arithmetic
        for known, found in self._known:
            if known == arithmetic:
                return found
        if self._is_reference(arithmetic):
            found = agreement(*tee(self._references()), classes=self._classes)
        else:
            runs = scored.executor().run_each(self._feeds())
            found = agreement(self._references(), runs, classes=self._classes)
        self._known.append((arithmetic, found))
        return found

    def _is_reference(self, arithmetic: Arithmetic) -> bool:
        """True if it is that of the float network, which is run as a whole."""
        whole = self._network
        ways = [("float32", whole.layers, whole.inputs, whole.outputs)]
        return arithmetic.model == Model(whole) and list(arithmetic.subnets) == ways

    def _references(self) -> Iterator[Outputs]:
        """The float outputs of each input, kept ones or computed."""
        count = 0
        for count, feed in enumerate(self._feeds(), start=1):
            if count <= len(self._kept):
                yield self._kept[count - 1]
                continue
            self._engine = self._engine or FloatEngine(self._network)
            outputs = self._engine.run(feed)
            self._elements += sum(array.size for array in outputs.values())
            if count == len(self._kept) + 1 and self._elements <= KEPT:
                self._kept.append(outputs)
            yield outputs
        if count == len(self._kept):
            self._engine = None
