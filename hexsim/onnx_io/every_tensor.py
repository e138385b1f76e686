"""The float values of all tensors of a network, some at a time where they are many."""

from collections.abc import Collection, Iterator, Mapping

from hexsim import budget
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.liveness import parts_within
from hexsim.onnx_io.float_engine import FloatEngine


class EveryTensor:
    """A network prepared to give the tensors in `names` for any number of inputs.

    It runs in consecutive parts, which are as long as the budget for values allows, or as one part
    if the values are needed `together`. Errors are those of `FloatEngine`.
    """

    def __init__(self, network: Network, names: Collection[str], *, together: bool = False) -> None:
        self._names = frozenset(names)
        self._parts: list[tuple[FloatEngine, tuple[str, ...], frozenset[str]]] = []
        """The last one first: what each reads, and what is read by those that run after it."""
        most = int(budget.allowed(budget.VALUES))
        parts = [network.layers] if together else parts_within(network, most)
        read_later = frozenset[str]()
        for layers in reversed(parts):
            inputs, _ = network.boundary(layers)
            written = [name for layer in layers for name in layer.outputs]
            outputs = [n for n in written if n in self._names or n in read_later]
            engine = FloatEngine(network.subnetwork(layers, inputs, outputs), outputs)
            self._parts.append((engine, inputs, read_later))
            read_later |= frozenset(inputs)

    def run(self, inputs: Mapping[str, FloatArray]) -> Iterator[tuple[str, FloatArray]]:
        """Yield the name and values of each tensor that a layer writes, in stored order."""
        carried = dict(inputs)
        for engine, read, read_later in reversed(self._parts):
            values = engine.run({name: carried[name] for name in read})
            carried = {n: x for n, x in {**carried, **values}.items() if n in read_later}
            for name in list(values):  # an array that nobody needs any more takes no memory
                array = values.pop(name)
                if name in self._names:
                    yield name, array
