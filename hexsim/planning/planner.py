"""Planning: the subnets of a partitioned network become kernel calls."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hexsim.graph.ir import Layer
from hexsim.layers import Convert
from hexsim.planning.plan import KernelCall, Plan, PlannedSubnet
from hexsim.planning.subnet import Subnet
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.float_layers import converts_floats
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, Runtime

_FLOAT_BITS: dict[Runtime, int] = {"cpu": 32, "gpu": 16, "gpu_fp16": 16, "htp_fp16": 16}
_INDEX_BITS = 32
"""Bits of an index on the tensor processor, which has no 64-bit types."""


def make_plan(model: Model, runtime: Runtime, cuts: Sequence[Subnet]) -> Plan:
    """Turn a partitioned network into kernel calls.

    Without encodings a fixed-point runtime is planned with the widths of the default quantiser:
    8-bit activations, 8-bit asymmetric weights.
    """
    floats = model.network.weights & model.floats.keys()
    # Float runtimes compute in one float type, whatever the file states.
    planned = model if runtime in FIXED_POINT else replace(model, floats={})
    subnets = tuple(_subnet(cut, planned) for cut in cuts)
    coded = model.quantized and not model.float_weights
    return Plan(model.network, runtime, subnets, coded, model.weight_bytes, floats)


def _subnet(cut: Subnet, model: Model) -> PlannedSubnet:
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
        and _convert(
            [consumer for consumer in network.consumers[n] if consumer.outputs[0] not in written],
            model,
        )
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


def _convert(layers: Iterable[Layer], model: Model) -> bool:
    """Tell whether `layers` are Convert layers between codes and floats."""
    return all(converts_floats(layer, model) for layer in layers)


def _call(layer: Layer, cut: Subnet, model: Model) -> KernelCall:
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
    elif cut.engine == "htp" and cut.runtime == "cpu":
        activation_bits = _bits_in_graph(layer, model)
    elif cut.runtime == "htp_fp16" and model.packs_weights:
        weight_bits = _packed_bits(layer, model, weight_bits)
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


def _bits_in_graph(layer: Layer, model: Model) -> int:
    """Return the bits of what a layer of a graph writes whose values the CPU runtime computes."""
    name = layer.outputs[0]
    if model.network.tensors[name].dtype not in ("float32", "float16"):
        return _INDEX_BITS
    encoding = model.activations.get(name)
    return encoding.bitwidth if encoding else _FLOAT_BITS["htp_fp16"]


def _packed_bits(layer: Layer, model: Model, float_bits: int) -> int:
    """Return the bits of the codes of a layer's weight, which stay packed in memory."""
    weight = model.parameters.get(layer.parameters[0]) if layer.parameters else None
    return float_bits if weight is None else weight.bitwidth


def _bits(name: str, model: Model) -> int:
    encoding = model.activations.get(name)
    return model.floats[name] if encoding is None else encoding.bitwidth
