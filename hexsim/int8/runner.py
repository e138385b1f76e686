"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from hexsim.graph.ir import FloatArray
from hexsim.int8.execution_context import ExecutionContext
from hexsim.int8.packed_call import PackedCall
from hexsim.int8.prepared import PreparedCall
from hexsim.lowering import LoweredCall
from hexsim.lowering.lowered_call import Codes


class IntegerSubnet:
    """Bound calls in execution order, and the tensors that enter and leave.

    Inside a call `threads` threads share the rows (0: `cores.default_threads`); the values do not
    depend on them. Several threads may call it, which then wait for each other; those that are to
    run beside each other have a execution context each.
    """

    def __init__(
        self,
        calls: Iterable[LoweredCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int = 1,
    ) -> None:
        # Each is packed, and let go of, before the next is asked for.
        self._calls = list(map(PackedCall.of, calls))
        self._edges = tuple(inputs), tuple(outputs)
        self._contexts = [ExecutionContext(self._calls, *self._edges, threads)]
        self._making = threading.Lock()

    @property
    def packed(self) -> list[PreparedCall]:
        """The calls with their weights, which take most of its memory."""
        return [call.prepared for call in self._calls]

    @property
    def codes(self) -> Mapping[str, Codes]:
        """The tensors of an inference, which take the rest."""
        return self._contexts[0].codes

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        return self._contexts[0].run(inputs)

    def contexts(self, count: int) -> list[ExecutionContext]:
        """so many execution contexts, whose `run_alone` are the same values; those made before come
        first.

        The first is what `run` uses. What a execution context takes, it keeps for as long as the
        subnet.
        """
        with self._making:
            while len(self._contexts) < count:
                self._contexts.append(ExecutionContext(self._calls, *self._edges, threads=1))
            return self._contexts[:count]
