"""Traces the tensors and constants of a file to the network that was made of it.

A name that a pass leaves stands for the same values, perhaps in another shape or order. So tensors
with the same values are found from the layers that only rearrange them, before and after each
pass, forwards and backwards.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from hexsim.graph.derived import Derived
from hexsim.graph.ir import Constant, Layer, Network
from hexsim.passes.rearrangements import is_no_op
from hexsim.records import dataclass, field

NO_NAMES: Mapping[str, str] = MappingProxyType({})
"""No name has another one."""


@dataclass(frozen=True)
class Provenance:
    """Names of a file that the network lacks, and names of the network that the file lacks.

    `renamed` maps a tensor of the file to the one that holds its values now. `absorbed` maps a
    tensor or array to the layer that computes with it internally, or to an empty string if none
    does. `inside` maps a tensor that the file lacks to the one that its operator computes, and
    `rearranged` a constant to the array of the file whose numbers it has, in another shape or
    order. `folded` has the factors of parameters that passes multiplied, None for those that they
    changed otherwise.
    """

    renamed: Mapping[str, str]
    absorbed: Mapping[str, str]
    inside: Mapping[str, str] = field(default_factory=dict)
    rearranged: Mapping[str, str] = field(default_factory=dict)
    folded: Mapping[str, Constant | None] = field(default_factory=dict)


def provenance(
    stages: Sequence[Network], named: Iterable[str] = (), rearranged: Mapping[str, str] = NO_NAMES
) -> Provenance:
    """Trace the names of a file as it was read through the `stages` of its network.

    The first stage is the network as it was read, the last the optimised one. `named` are the
    tensors and arrays that the file has, by default the tensors of the first stage, and
    `rearranged` is as in the result.
    1. Tensors have the same values if layers between them only rearrange these, or do nothing.
    2. A tensor of the file that is gone stands for the first one of the network with its values.
    3. One that only the import wrote, in another shape than its layer, stands for the layer's.
    4. A name without such a tensor is absorbed: by the layer that fused its layer, or by none.
    5. A tensor without the values of one of the file is inside the operator whose output depends
       on it first.
    """
    before, after, last = stages[0], stages[-1], len(stages) - 1
    of_file = set(named) or set(before.tensors)
    values = _Values(stages)
    carriers: dict[_Place, str] = {}
    for name in _in_order(after):
        carriers.setdefault(values.of((last, name)), name)
    owners = {name: layer.name for layer in after.layers for name in (layer.name, *layer.fused)}
    known = {*before.tensors, *before.constants, *rearranged.values()}
    renamed: dict[str, str] = {}
    absorbed = dict.fromkeys(of_file - known, "")
    for layer in before.layers:
        owner = owners.get(layer.name, "")
        for name in layer.outputs:
            carrier = name if name in after.tensors else carriers.get(values.of((0, name)))
            if carrier is None:
                writer = before.producers.get(values.of((0, name))[1], layer)
                absorbed[name] = owners.get(writer.name, owner)
            elif (carrier := _computed(carrier, after, of_file)) != name:
                renamed[name] = carrier
        gone = (name for name in _constants(layer, before) if name not in after.constants)
        absorbed.update(dict.fromkeys(gone, owner))
    places_of_file = {values.of((0, name)) for name in of_file}
    outside = {name for name in after.tensors if values.of((last, name)) in places_of_file}
    inside = dict(_inside(after, outside))
    derived = [c for c in after.constants.values() if isinstance(c, Derived)]
    passed = {c.name: rearranged.get(c.origin, c.origin) for c in derived if c.name != c.origin}
    folded = {c.name: c.factor for c in derived}
    return Provenance(renamed, absorbed, inside, {**rearranged, **passed}, folded)


_Place = tuple[int, str]
"""The number of a stage, and a tensor there: a name that is gone may be taken by another."""


class _Values:
    """Which tensors of the stages of a network have the same values (rule 1)."""

    def __init__(self, stages: Sequence[Network]) -> None:
        self._links: dict[_Place, _Place] = {}
        for number, network in enumerate(stages):
            for layer in network.layers:
                if (layer.rearranges or is_no_op(layer, network)) and (
                    layer.inputs[0] in network.tensors
                ):
                    self._link((number, layer.output), (number, layer.inputs[0]))
        for number, (network, following) in enumerate(pairwise(stages)):
            for name in network.tensors.keys() & following.tensors.keys():
                self._link((number + 1, name), (number, name))

    def _link(self, place: _Place, other: _Place) -> None:
        self._links[self.of(place)] = self.of(other)

    def of(self, place: _Place) -> _Place:
        """Return the same place for all tensors with the values of the tensor at `place`."""
        while (link := self._links.get(place, place)) != place:
            self._links[place] = self._links.get(link, link)
            place = link
        return place


def _in_order(network: Network) -> Iterator[str]:
    """Yield the tensors of a network in the order in which they are written."""
    yield from network.inputs
    for layer in network.layers:
        yield from layer.outputs


def _computed(name: str, network: Network, of_file: set[str]) -> str:
    """Return the tensor, computed by a layer, that the import rearranged to `name` (rule 3)."""
    source, writer = name, network.producers.get(name)
    while writer is not None and writer.rearranges:
        (source,) = writer.inputs
        writer = None if source in of_file else network.producers.get(source)
    return name if writer is None else source


def _inside(network: Network, outside: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the tensors that are not `outside`, each with the first of those that depends on it."""
    results: dict[str, str] = {}
    for layer in reversed(network.layers):
        for name in layer.inputs:
            results[name] = layer.outputs[0]
    for name in _in_order(network):
        result = name
        while result not in outside and result in results:
            result = results[result]
        if result != name:
            yield name, result


def _constants(layer: Layer, network: Network) -> tuple[str, ...]:
    operands = (name for name in layer.inputs if name in network.constants)
    return (*layer.parameters, *operands)
