"""The plan: the kernel calls of one inference, in order, cut into subnets.

It is the one object in which values and time meet. The value side executes its subnets, the time
side turns its calls into work items; neither looks at the other. A plan holds shapes and bit
widths only, so making one touches no weight; the integer constants of a call come from
`hexsim.binding`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.layers import Convert
from hexsim.planning.partition import Subnet
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.float_layers import converts_floats
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.runtimes import FIXED_POINT, Engine, Runtime

_FLOAT_BYTES = 4
_FLOAT_BITS: dict[Runtime, int] = {"cpu": 32, "gpu": 16, "gpu_fp16": 16}


@dataclass(frozen=True)
class KernelCall:
    """One layer on one engine: shapes (stored order) and bit widths, no numbers.

    `operands` are the shapes of all inputs, constants used as operands included. They have
    `activation_bits`, as the results do, unless `operand_bits` says otherwise (Convert). The bits
    are those of codes unless `computes_float`.
    """

    layer: Layer
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

    @cached_property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.layer.macs(self.operands, self.results)

    @property
    def operand_bytes(self) -> int:
        """Bytes of all inputs, without padding."""
        return sum(math.prod(shape) for shape in self.operands) * self.input_bits // 8

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
    fixed-point subnet they are converted between float32 and codes; the shapes say how much. But
    those in `as_codes` cross as they are, because a Convert layer of another subnet converts them.
    Between the engines of one runtime they stay codes. The plan says what runs where; a subnet on
    the HTA is compiled by the time side (`hexsim.hta.compiler`), from the data of its chip.
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


@dataclass(frozen=True)
class Plan:
    """All subnets of one inference of `network` on `runtime`, in execution order.

    `quantized` tells whether the model's file holds codes or floats, `stored_bytes` how many
    bytes its parameters take there, `floats` which parameters are floats beside codes.
    """

    network: Network
    runtime: Runtime
    subnets: tuple[PlannedSubnet, ...]
    quantized: bool
    stored_bytes: int
    floats: frozenset[str] = frozenset()

    def of_float_file(self) -> Plan:
        """The same calls from a file that holds floats, which are quantised when it is loaded."""
        return replace(
            self, quantized=False, stored_bytes=self.network.total_parameters * _FLOAT_BYTES
        )

    def calls(self) -> Iterator[KernelCall]:
        """All kernel calls in execution order."""
        for subnet in self.subnets:
            yield from subnet.calls


def make_plan(model: Network | QuantizedNetwork, runtime: Runtime, cuts: list[Subnet]) -> Plan:
    """Turn a partitioned network into kernel calls.

    Without encodings (a plain Network) a fixed-point runtime is planned as the default
    quantiser would leave it: 8-bit activations, 8-bit asymmetric weights.
    """
    quantized = isinstance(model, QuantizedNetwork)
    floats: frozenset[str] = frozenset()
    if isinstance(model, QuantizedNetwork):
        stored_bytes, floats = model.weight_bytes, model.network.weights & model.floats.keys()
    else:
        model = QuantizedNetwork(model, {}, {})
        stored_bytes = model.network.total_parameters * _FLOAT_BYTES
    if runtime not in FIXED_POINT:  # which computes in one kind of float whatever the file says
        model = replace(model, floats={})
    subnets = tuple(_subnet(cut, model) for cut in cuts)
    return Plan(model.network, runtime, subnets, quantized, stored_bytes, floats)


def _subnet(cut: Subnet, model: QuantizedNetwork) -> PlannedSubnet:
    network = model.network
    inputs, outputs = network.boundary(cut.layers)
    written = {name for layer in cut.layers for name in layer.outputs}
    coded = [
        n for n in inputs if n in network.producers and _convert([network.producers[n]], model)
    ]
    coded += [
        n
        for n in outputs
        if n not in network.outputs
        and _convert([la for la in network.consumers[n] if la.outputs[0] not in written], model)
    ]
    return PlannedSubnet(
        runtime=cut.runtime,
        engine=cut.engine,
        reason=cut.reason,
        calls=tuple(_call(layer, cut, model) for layer in cut.layers),
        inputs=inputs,
        outputs=outputs,
        input_shapes=tuple(network.shape(name) for name in inputs),
        output_shapes=tuple(network.shape(name) for name in outputs),
        as_codes=frozenset(coded) if cut.runtime in FIXED_POINT else frozenset(),
    )


def _convert(layers: Iterable[Layer], model: QuantizedNetwork) -> bool:
    """True if `layers` are Convert layers between codes and floats."""
    return all(converts_floats(layer, model) for layer in layers)


def _call(layer: Layer, cut: Subnet, model: QuantizedNetwork) -> KernelCall:
    network = model.network
    activation_bits = weight_bits = _FLOAT_BITS.get(cut.runtime, 8)
    symmetric = False
    operand_bits = None
    if cut.runtime in FIXED_POINT:
        activation = model.activations.get(layer.outputs[0])
        activation_bits = activation.bitwidth if activation else 8
        if isinstance(layer, Convert):
            source = model.activations.get(layer.inputs[0])
            operand_bits = source.bitwidth if source else None
        weight = model.parameters.get(layer.parameters[0]) if layer.parameters else None
        if weight is not None:
            weight_bits = weight.bitwidth
            symmetric = isinstance(weight, AxisEncoding) or weight.symmetric
    elif converts_floats(layer, model):
        operand_bits, activation_bits = (_bits(n, model) for n in (layer.inputs[0], layer.output))
    elif layer.outputs[0] in model.floats:
        activation_bits = weight_bits = model.floats[layer.outputs[0]]
    return KernelCall(
        layer=layer,
        engine=cut.engine,
        operands=network.input_shapes(layer),
        results=network.layer_outputs(layer),
        parameters=tuple(network.constants[name].shape for name in layer.parameters),
        activation_bits=activation_bits,
        weight_bits=weight_bits,
        symmetric_weights=symmetric,
        operand_bits=operand_bits,
        computes_float=cut.runtime not in FIXED_POINT,
    )


def _bits(name: str, model: QuantizedNetwork) -> int:
    encoding = model.activations.get(name)
    return model.floats[name] if encoding is None else encoding.bitwidth
