"""Planning: which engine runs which layer, and the kernel calls of each subnet.

A network is cut, in layer order, into subnets: runs of layers that one engine takes. Layers that
the requested runtime refuses run on the CPU (CPU fallback), or
the whole request is refused if fallback is off. On AIP the layers of each HTA section are a
subnet on the tensor engine; all others run on HVX, as in the real runtime with a file
that has no such sections. Under the rules of SNPE 1.23 AIP runs one HTA and one HNN subnet
with one input and one output each, and the CPU runs the rest.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from hexsim.datasheets.operators import Operators
from hexsim.datasheets.stacks import PartitionRules
from hexsim.errors import HexsimError
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Convert
from hexsim.planning.placement import Placement, place_of
from hexsim.planning.plan import KernelCall, Plan, PlannedSubnet, Subnet
from hexsim.planning.sections import is_single
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.float_layers import converts_floats
from hexsim.quantization.model import Model
from hexsim.runtimes import FIXED_POINT, Runtime

_SINGLE = "the 1.23 rules allow AIP one HTA and one HNN subnet, with one input and one output each"


def partition(
    model: Model,
    runtime: Runtime,
    *,
    sections: Sequence[Collection[str]] = (),
    rules: PartitionRules = "1.25+",
    operators: Operators | None = None,
    cpu_fallback: bool = True,
) -> list[Subnet]:
    """Cut `model` into subnets for `runtime`.

    `operators` are the operators that a release supports, None for those of the last SNPE
    1.x. `sections` are the names of layers compiled for the HTA, a collection for each section;
    they matter on aip only, as do `rules`. Raises HexsimError if `cpu_fallback` is False and a
    layer is refused, or if the sections are not those of `rules`.
    """
    network = model.network
    in_section = {
        name: number
        for number, names in enumerate(sections if runtime == "aip" else ())
        for name in names
    }
    places = [
        place_of(layer, model, runtime, in_section.get(layer.name, -1), operators)
        for layer in network.layers
    ]
    if runtime == "aip" and rules == "1.23":
        places = _single_subnets(network, places)
    if runtime != "cpu" and not cpu_fallback:
        _require_no_fallback(network, runtime, places)
    subnets = []
    for place, run in groupby(zip(places, network.layers, strict=True), key=lambda pair: pair[0]):
        layers = tuple(layer for _, layer in run)
        subnets.append(Subnet(place.runtime, place.engine, layers, place.reason))
    return _merge_fallbacks(subnets)


def _single_subnets(network: Network, places: list[Placement]) -> list[Placement]:
    """Place the layers after the first HTA and the first HNN subnet on the CPU."""
    count = sum(1 for _ in takewhile(lambda place: place.section == 0, places))
    if any(place.section >= 0 for place in places[count:]) or (
        count and not is_single(network, range(count))
    ):
        raise HexsimError(
            f"the HTA sections of '{network.name}' are not those of the 1.23 rules (one, from the "
            "first layer on, with one input and one output); quantise the float network again "
            "with that stack"
        )
    on_hvx = sum(1 for _ in takewhile(lambda place: place.engine == "hvx", places[count:]))
    candidates = range(count + on_hvx, count, -1)
    end = next((end for end in candidates if is_single(network, range(count, end))), count)
    on_cpu = Placement("cpu", "cpu", -1, _SINGLE)
    return [*places[:end], *(pl if pl.runtime == "cpu" else on_cpu for pl in places[end:])]


def _require_no_fallback(network: Network, runtime: Runtime, places: list[Placement]) -> None:
    for layer, place in zip(network.layers, places, strict=True):
        if place.runtime != runtime and place.engine == "cpu":
            raise HexsimError(
                f"layer '{layer.name}' ({layer.type}) cannot run on {runtime}: "
                f"{place.reason}; allow CPU fallback or choose another runtime"
            )


def _merge_fallbacks(subnets: list[Subnet]) -> list[Subnet]:
    """Join neighbouring CPU subnets that were refused for different reasons."""
    merged: list[Subnet] = []
    for subnet in subnets:
        if merged and merged[-1].is_fallback and subnet.is_fallback:
            last = merged.pop()
            reasons = dict.fromkeys((*last.reason.split("; "), subnet.reason))
            subnet = replace(subnet, layers=last.layers + subnet.layers, reason="; ".join(reasons))
        merged.append(subnet)
    return merged


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
