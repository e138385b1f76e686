"""Executors map input arrays to output arrays; how many inferences of a list run side by side.

Several execution contexts are worth having if their threads seldom need the interpreter lock, which
only one thread can hold: an inference needs it whenever it enters or leaves a subnet. So there is a
least amount of work for each time that the lock is needed. If a network is too small for that, its
list of inputs runs one after the other.

A list is never shared out if values depend on what ran before: that is so for user-defined layers,
whose code may keep state, and for nodes that draw random numbers.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from hexsim import budget
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.liveness import elements_at_once
from hexsim.layers import Opaque, UserDefined
from hexsim.onnx_io.write.emitters.opaque import draws
from hexsim.threads import default_threads


class SubnetExecutor(Protocol):
    """A subnet, or a whole plan, made ready to run."""

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs for `inputs`, arrays in stored order by tensor name."""


class ListExecutor(Protocol):
    """A whole plan made ready to run on a list of inputs."""

    def run_each(
        self, feeds: Iterable[Mapping[str, FloatArray]]
    ) -> Iterator[dict[str, FloatArray]]:
        """Yield the outputs for each of `feeds`, in their order; some feeds are read ahead."""


def is_small(network: Network, *, least: int, visits: int) -> bool:
    """Return whether there is less work than `least` elements for each visit.

    The elements are those of tensors and constants. `visits` is how often an inference needs the
    interpreter lock.
    """
    elements = sum(tensor.elements for tensor in network.tensors.values())
    elements += sum(constant.elements for constant in network.constants.values())
    return elements < least * visits


def contexts_for(network: Network, threads: int, *, least: int, visits: int) -> int:
    """Return how many inferences may run at once, each on one of `threads` (0: one per core).

    The result is 1 if they have to run one after the other. `least` and `visits` are as for
    `is_small`. The memory of all execution contexts and of one waiting result stays within the
    budget.
    """
    if is_small(network, least=least, visits=visits) or _depends_on_order(network):
        return 1
    elements = max(elements_at_once(network, network.outputs), 1)
    affordable = int(budget.allowed(budget.VALUES) // elements) - 1
    return max(1, min(threads or default_threads(), affordable))


def _depends_on_order(network: Network) -> bool:
    return any(
        isinstance(layer, UserDefined) or (isinstance(layer, Opaque) and draws(layer))
        for layer in network.layers
    )
