"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges."""

import threading
from collections.abc import Iterable, Mapping, Sequence

from hexsim.graph.ir import FloatArray
from hexsim.int8.execution_context import ExecutionContext
from hexsim.int8.packed_call import PackedCall
from hexsim.int8.prepared import PreparedCall
from hexsim.lowering import LoweredCall
from hexsim.lowering.lowered_call import Codes


class IntegerSubnet:
    """Lowered calls in execution order, and the tensors that enter and leave.

    Inside a call `threads` threads share the rows (0: `cores.default_threads`); the values do not
    depend on their number. Several threads may call it and then take turns; to run side by side
    they need an execution context each.
    """

    def __init__(
        self,
        calls: Iterable[LoweredCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int = 1,
    ) -> None:
        # Each call is packed and dropped before the next one is requested.
        self._calls = list(map(PackedCall.of, calls))
        self._boundary = tuple(inputs), tuple(outputs)
        self._contexts = [ExecutionContext(self._calls, *self._boundary, threads)]
        self._making = threading.Lock()

    @property
    def packed(self) -> list[PreparedCall]:
        """Return the calls with their weights, which take most of the memory."""
        return [call.prepared for call in self._calls]

    @property
    def codes(self) -> Mapping[str, Codes]:
        """Return the tensors of an inference, which take the rest of the memory."""
        return self._contexts[0].codes

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        return self._contexts[0].run(inputs)

    def contexts(self, count: int) -> list[ExecutionContext]:
        """Return `count` execution contexts, whose `run_alone` gives the same values.

        Contexts that were made before come first; the first one is the one that `run` uses. An
        execution context keeps its memory as long as the subnet exists.
        """
        with self._making:
            while len(self._contexts) < count:
                self._contexts.append(ExecutionContext(self._calls, *self._boundary, threads=1))
            return self._contexts[:count]
