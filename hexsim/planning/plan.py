"""The plan: the kernel calls of one inference, in order, cut into subnets.

Both the computation of values and the simulation of time start from it: the first executes its
subnets, the second turns its calls into work items. A plan holds shapes and bit
widths only, so making one reads no weights; the integer constants of a call come from
`hexsim.lowering`.

A run of subnets of one DSP runtime is one FastRPC call: the executor on the Q6 runs them in order
on HVX and on the tensor engine. Subnets on the tensor processor are one graph. A subnet on the CPU
or the GPU is not joined with others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import groupby
from typing import Generic
from weakref import WeakKeyDictionary

from typing_extensions import TypeVar

from hexsim.datasheets.quantity import Estimate
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network, Shape
from hexsim.layers import Convolution, Elementwise, Neuron
from hexsim.records import dataclass, replace
from hexsim.runtimes import Engine, Runtime
from hexsim.texts.display import DisplayTable, Shown

FLOAT_BYTES = 4

CalledLayer = TypeVar("CalledLayer", bound=Layer, default=Layer, covariant=True)


@dataclass(frozen=True)
class KernelCall(Generic[CalledLayer]):
    """One layer on one engine: shapes (stored order) and bit widths, no values.

    `operands` are the shapes of all inputs, constants used as operands included. They have
    `activation_bits`, as the results do, unless `operand_bits` says otherwise (Convert). The bits
    are those of quantised values unless `computes_float`.
    """

    layer: CalledLayer
    engine: Engine
    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]
    parameters: tuple[Shape, ...]
    activation_bits: int
    weight_bits: int
    symmetric_weights: bool
    operand_bits: int | None = None
    computes_float: bool = False

    @property
    def input_bits(self) -> int:
        """Bits of the operands."""
        return self.operand_bits or self.activation_bits

    @property
    def layer_class(self) -> str:
        """The class of its layer, under which measured layers are compared: its type, with the kind
        of an element-wise operation or function, and whether a convolution has groups."""
        layer = self.layer
        if isinstance(layer, Elementwise):
            return f"elementwise {layer.kind}"
        if isinstance(layer, Neuron):
            return f"neuron {layer.function}"
        if isinstance(layer, Convolution) and layer.groups > 1:
            return f"grouped {layer.type}"
        return layer.type

    @property
    def is_depthwise(self) -> bool:
        """Whether its layer is a convolution of each input channel by itself."""
        layer = self.layer
        return isinstance(layer, Convolution) and layer.is_depthwise(self.operands[0][-1])

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.layer.macs(self.operands, self.results)

    @property
    def operand_bytes(self) -> int:
        """Bytes that are read from all inputs, without padding."""
        return self.layer.elements_read(self.operands) * self.input_bits // 8

    @property
    def result_bytes(self) -> int:
        """Bytes of all outputs, without padding."""
        return sum(math.prod(shape) for shape in self.results) * self.activation_bits // 8

    @property
    def parameter_bytes(self) -> int:
        """Bytes of weights and biases, without padding."""
        return sum(math.prod(shape) for shape in self.parameters) * self.weight_bits // 8


@dataclass(frozen=True)
class PlannedSubnet:
    """The calls of one subnet and the tensors that cross its edges.

    `inputs` come from the application or another subnet, `outputs` go there. At the edges of a
    fixed-point subnet they are converted between float32 and codes (quantised values), except those
    in `as_codes`, which a Convert layer of another subnet converts.
    Between the engines of one runtime they stay codes. A subnet on
    the HTA is compiled for the simulation (`hexsim.hta.compiler`), from the data of its chip.
    """

    runtime: Runtime
    engine: Engine
    reason: str
    calls: tuple[KernelCall, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]
    as_codes: frozenset[str] = frozenset()

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """Bits of every tensor and operand of its calls, by name."""
        widths: dict[str, int] = {}
        for call in self.calls:
            widths.update(dict.fromkeys(call.layer.inputs, call.input_bits))
            widths.update(dict.fromkeys(call.layer.outputs, call.activation_bits))
        return widths

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers of the calls."""
        return tuple(call.layer for call in self.calls)


@dataclass(frozen=True, repr=False, eq=False)
class Plan(Shown):
    """All subnets of one inference of `network` on `runtime`, in execution order.

    Plans are compared by identity, so that results derived from them can be cached.

    `quantized` tells whether the model's file holds codes or floats, `stored_bytes` how many
    bytes its parameters take there, `floats` which parameters are floats beside codes.
    `binary_bytes` is the size of the context binary that is loaded instead, if there is one.
    """

    network: Network
    runtime: Runtime
    subnets: tuple[PlannedSubnet, ...]
    quantized: bool
    stored_bytes: int
    floats: frozenset[str] = frozenset()
    binary_bytes: int | None = None

    @property
    def timed(self) -> tuple[object, ...]:
        """What decides the time of an inference: plans in which this is equal take equal times.

        The vector unit computes alike for `dsp` and for `aip` without sections; initialisation,
        which the file's kind decides as well, is not part of an inference.
        """
        subnets = (
            replace(subnet, reason="", runtime="dsp" if subnet.engine == "hvx" else subnet.runtime)
            for subnet in self.subnets
        )
        return (self.network.inputs, self.network.outputs, *subnets)

    def of_float_file(self) -> Plan:
        """Return the same calls for a float file, whose weights are quantised at load."""
        return replace(
            self, quantized=False, stored_bytes=self.network.total_parameters * FLOAT_BYTES
        )

    def require_work(self) -> None:
        """Raise HexsimError for a network without layers: it takes no time, and has no rate."""
        if not self.subnets:
            raise HexsimError(
                f"network '{self.network.name}' has no layers, so an inference takes no time; "
                "give one that computes something"
            )

    def without_values(self) -> Plan:
        """Return the plan without arrays, for a simulation in another process."""
        return replace(self, network=self.network.without_values())

    def display_table(self) -> DisplayTable:
        """Return a table of the subnets, their engines and the reasons for the cuts."""
        return DisplayTable(
            f"{self.network.name} on {self.runtime}, {len(self.subnets)} "
            f"subnet{'' if len(self.subnets) == 1 else 's'}",
            ("subnet", "engine", "first layer", "last layer", "layers", "MACs", "reason"),
            tuple(
                (
                    *(number, subnet.engine, subnet.layers[0].name, subnet.layers[-1].name),
                    *(len(subnet.calls), sum(call.macs for call in subnet.calls), subnet.reason),
                )
                for number, subnet in enumerate(self.subnets)
            ),
            bars="MACs",
        )

    def layers_on(self, engine: Engine) -> int:
        """Return the number of layers on an engine."""
        return sum(len(subnet.calls) for subnet in self.subnets if subnet.engine == engine)

    def calls(self) -> Iterator[KernelCall]:
        """Yield all kernel calls in execution order."""
        for subnet in self.subnets:
            yield from subnet.calls


@dataclass(frozen=True)
class Subnet:
    """A run of layers on one engine; `reason` says why it is cut off from its neighbours."""

    runtime: Runtime
    engine: Engine
    layers: tuple[Layer, ...]
    reason: str

    @property
    def is_fallback(self) -> bool:
        """Tell whether its layers run on the CPU, in whatever runtime; it may be the CPU's own."""
        return (self.runtime, self.engine) == ("cpu", "cpu")


@dataclass(frozen=True)
class PreparedGraph:
    """What preparing the graphs of a network takes.

    `binary_bytes` is the size of the context binary, `prepare_s` the time of a CPU, and
    `prepare_bytes` the least memory: the network as its file has it, beside the binary.
    `initialise_s` is the initialisation on the phone if it prepares the graph then, `load_s` if it
    loads the binary. `process_bytes` is the memory of the process while it runs.
    """

    binary_bytes: Estimate
    prepare_s: Estimate
    prepare_bytes: Estimate
    initialise_s: Estimate
    load_s: Estimate
    process_bytes: Estimate


_ON_DSP: frozenset[Engine] = frozenset({"hvx", "hta"})


@dataclass(frozen=True, eq=False)
class JoinedSubnets:
    """Subnets in order; `inputs` come from outside all of them, `outputs` are used there.

    They are compared by identity, because each plan has them once.
    """

    subnets: tuple[PlannedSubnet, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, network: Network, subnets: tuple[PlannedSubnet, ...]) -> JoinedSubnets:
        """Join subnets of `network`."""
        inputs, outputs = network.boundary([layer for subnet in subnets for layer in subnet.layers])
        return cls(
            subnets,
            inputs,
            outputs,
            tuple(network.shape(name) for name in inputs),
            tuple(network.shape(name) for name in outputs),
        )

    @property
    def on_dsp(self) -> bool:
        """Whether this is a call into the DSP."""
        return self.subnets[0].engine in _ON_DSP

    @property
    def uses_hta(self) -> bool:
        """Whether the tensor engine runs one of the subnets."""
        return any(subnet.engine == "hta" for subnet in self.subnets)

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """Bits of every tensor, by name."""
        return {name: bits for subnet in self.subnets for name, bits in subnet.bits.items()}

    @property
    def as_codes(self) -> frozenset[str]:
        """Inputs and outputs that cross as codes, converted by a Convert layer elsewhere."""
        return frozenset(name for subnet in self.subnets for name in subnet.as_codes)

    def written_by(self, engine: Engine) -> frozenset[str]:
        """Return the outputs of the subnets on `engine`."""
        return self._names("outputs", engine)

    def read_by(self, engine: Engine) -> frozenset[str]:
        """Return the inputs of the subnets on `engine`."""
        return self._names("inputs", engine)

    def _names(self, side: str, engine: Engine) -> frozenset[str]:
        return frozenset(
            name
            for subnet in self.subnets
            if subnet.engine == engine
            for name in getattr(subnet, side)
        )


_cache: WeakKeyDictionary[Plan, tuple[JoinedSubnets, ...]] = WeakKeyDictionary()


def joined_subnets(plan: Plan) -> tuple[JoinedSubnets, ...]:
    """Return the subnets of `plan`, joined by call; the result is cached for each plan."""
    if plan not in _cache:
        _cache[plan] = tuple(_joined(plan))
    return _cache[plan]


def _joined(plan: Plan) -> Iterator[JoinedSubnets]:
    for _, run in groupby(enumerate(plan.subnets), key=lambda item: _call_of(item[1]) or item[0]):
        yield JoinedSubnets.of(plan.network, tuple(subnet for _, subnet in run))


def _call_of(subnet: PlannedSubnet) -> str | None:
    """Return a key that neighbours in one call share, None on CPU and GPU."""
    if subnet.engine == "htp":
        return subnet.engine
    return subnet.runtime if subnet.engine in _ON_DSP else None
