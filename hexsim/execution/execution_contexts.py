"""How many inferences of a list run side by side, a thread each.

Seats are worth it where threads seldom need the interpreter, which has room for one of them: an
inference is let in and out of every subnet by it. So there is a least amount of work for each time
that it is needed. A list of networks too small for that runs one after the other.

A list is never dealt out where values depend on what ran before: with layers that users bring,
whose code may keep what it likes, and with nodes that draw random numbers.
"""

from __future__ import annotations

import math

from hexsim import budget
from hexsim.graph.ir import Network
from hexsim.layers import Opaque, UserDefined
from hexsim.onnx_io.write.randomness import draws
from hexsim.threads.cores import default_threads


def is_small(network: Network, *, least: int, visits: int) -> bool:
    """True if there is less work than `least` elements of tensors and constants for each visit.

    `visits` is how often an inference needs the interpreter.
    """
    return _elements(network) + _constants(network) < least * visits


def contexts_for(network: Network, threads: int, *, least: int, visits: int) -> int:
    """How many inferences may run at once, each on one of `threads` (0: one per core); 1 is none.

    `least` and `visits` are as for `is_small`. What all execution contexts and a waiting result
    take is within the budget.
    """
    if is_small(network, least=least, visits=visits) or _depends_on_order(network):
        return 1
    affordable = int(budget.allowed(budget.VALUES) // max(_elements(network), 1)) - 1
    return max(1, min(threads or default_threads(), affordable))


def _elements(network: Network) -> int:
    return sum(tensor.elements for tensor in network.tensors.values())


def _constants(network: Network) -> int:
    return sum(math.prod(constant.shape) for constant in network.constants.values())


def _depends_on_order(network: Network) -> bool:
    return any(
        isinstance(layer, UserDefined) or (isinstance(layer, Opaque) and draws(layer))
        for layer in network.layers
    )
