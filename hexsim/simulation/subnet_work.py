"""The work of the subnets of one call, prepared before the simulation.

The tensor engine reads and writes DDR. So the tensors that an HVX subnet takes from it are in DDR
in the layout of the engine, and those that HVX passes to it are written to DDR in that layout.

Inputs from the application are converted to the engine's layout, and outputs for the application
from it. HVX does both, in the time of the loops that convert quantised values to and from d32,
because the layouts are similar and the engine's own loops are not published.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from hexsim.datasheets.chips import Chip
from hexsim.graph.ir import Shape
from hexsim.hta.command_list import CommandList
from hexsim.hta.compiler import compile_subnet
from hexsim.hta.layout import flat_bytes, tensor_bytes
from hexsim.hvx.kernels import Target, activation_l2_bytes, fetched_early, node_work
from hexsim.hvx.kernels.conversion import from_d32, in_scalar_code, to_d32
from hexsim.hvx.layout import code_bytes, flat_tensors, is_spatial, reads_flat, tensor_sizes
from hexsim.planning.kernel_forms import laid_down
from hexsim.planning.plan import JoinedSubnets, KernelCall, PlannedSubnet
from hexsim.records import dataclass, replace
from hexsim.simulation.phone import Phone
from hexsim.simulation.residency import subnet_traffic
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage

Edges = tuple[tuple[str, NodeWork], ...]
"""Named changes of layout, in order."""


@dataclass(frozen=True)
class DspWork:
    """Changes of layout before and after the calls of a subnet, and the calls in order."""

    subnet: PlannedSubnet
    input_conversions: Edges
    calls: tuple[NodeWork, ...]
    output_conversions: Edges


def dsp_work(
    subnet: PlannedSubnet,
    target: Target,
    *,
    in_ddr: Collection[str] = (),
    for_hta: Collection[str] = (),
    flat: Collection[str] | None = None,
) -> DspWork:
    """Cut a subnet into work items and decide which activations go through DDR.

    The quantised inputs are in L2, where the DSP has just converted them from floats, except those
    in `in_ddr`, which the CPU or the tensor engine wrote to DDR. The outputs in `for_hta` are
    written to DDR in the engine's layout, and those in `flat` (all, if it is None) become flat.
    """
    inputs = tuple(zip(subnet.inputs, subnet.input_shapes, strict=True))
    stay_flat = flat_tensors(subnet)
    layout_unchanged = stay_flat.union(name for name, shape in inputs if not is_spatial(shape))
    cold = tuple(name for name in subnet.inputs if name in in_ddr and name in layout_unchanged)
    shares = [activation_l2_bytes(call, target) for call in subnet.calls]
    residency = subnet_traffic(subnet, target.l2_bytes, shares, tensor_sizes(subnet), cold)
    bits = subnet.bits
    arriving = (
        (
            name,
            shape,
            traffic.reading(math.prod(shape) * code_bytes(subnet, name))
            if name in in_ddr
            else traffic,
        )
        for (name, shape), traffic in zip(inputs, residency.inputs, strict=True)
        if name not in stay_flat
    )
    leaving = [*zip(subnet.outputs, subnet.output_shapes, residency.outputs, strict=True)]
    for_engine = (
        (name, shape, traffic + Traffic(write_bytes=tensor_bytes(shape, bits[name])))
        for name, shape, traffic in leaving
        if name in for_hta
    )
    return DspWork(
        subnet,
        input_conversions=edges(
            (f"to_d32 {name}", to_d32(shape, target, t, bits[name])) for name, shape, t in arriving
        ),
        calls=_call_works(subnet, target, residency.calls, stay_flat),
        output_conversions=edges(
            (f"from_d32 {name}", from_d32(shape, target, t, bits[name]))
            for name, shape, t in leaving
            if (flat is None or name in flat) and name not in stay_flat
        )
        + edges(
            (f"to_hta {name}", from_d32(shape, target, t, bits[name]))
            for name, shape, t in for_engine
        ),
    )


def _call_works(
    subnet: PlannedSubnet, target: Target, traffics: Sequence[Traffic], flat: Collection[str]
) -> tuple[NodeWork, ...]:
    """Return the node of every call; some start the copy of weights for the one after them."""
    calls = subnet.calls
    early = [False, *(fetched_early(*pair, target) for pair in pairwise(calls))]
    return tuple(
        replace(_call_work(call, target, traffic, flat), fetched_early=is_early)
        for call, traffic, is_early in zip(calls, traffics, early, strict=True)
    )


def _call_work(
    call: KernelCall, target: Target, traffic: Traffic, flat: Collection[str]
) -> NodeWork:
    """Return the node of a call; an image that a first layer finds in d32 is made flat before."""
    work = node_work(call, target, traffic)
    if not reads_flat(call) or call.layer.inputs[0] in flat:
        return work
    before = from_d32(call.operands[0], target, Traffic(), call.input_bits)
    return replace(work, stages=(before, *work.stages), nodes=work.nodes + 1) if before else work


def edges(stages: Iterable[tuple[str, Stage | None]]) -> Edges:
    """Return a node for each stage that is not None."""
    return tuple((name, NodeWork((stage,), "kernel")) for name, stage in stages if stage)


@dataclass(frozen=True)
class HtaWork:
    """The command list of a subnet, and changes of layout on HVX before and after it."""

    subnet: PlannedSubnet
    input_conversions: Edges
    command_list: CommandList
    output_conversions: Edges

    @property
    def edge_bytes(self) -> tuple[int, ...]:
        """Bytes of each input and output of the subnet, as the engine reads and writes it."""
        subnet = self.subnet
        names = (*subnet.inputs, *subnet.outputs)
        shapes = (*subnet.input_shapes, *subnet.output_shapes)
        return tuple(tensor_bytes(s, subnet.bits[n]) for n, s in zip(names, shapes, strict=True))


def hta_work(
    subnet: PlannedSubnet,
    chip: Chip,
    target: Target,
    *,
    from_application: Collection[str],
    in_ddr: Collection[str],
    flat: Collection[str],
) -> HtaWork:
    """Compile a subnet and prepare the changes of layout around it, by one thread of the executor.

    Inputs in `from_application` are flat, in DDR if they are in `in_ddr` and otherwise in L2;
    outputs in `flat` become flat.
    """
    bits = subnet.bits

    def change(way: str, name: str, shape: Shape, traffic: Traffic) -> tuple[str, Stage | None]:
        return f"{way} {name}", in_scalar_code(shape, target, traffic, bits[name])

    return HtaWork(
        subnet,
        input_conversions=edges(
            change(
                "to_hta",
                name,
                shape,
                Traffic(
                    flat_bytes(shape, bits[name]) if name in in_ddr else 0,
                    tensor_bytes(shape, bits[name]),
                ),
            )
            for name, shape in zip(subnet.inputs, subnet.input_shapes, strict=True)
            if name in from_application
        ),
        command_list=compile_subnet(subnet, chip.name, chip.hta),
        output_conversions=edges(
            change("from_hta", name, shape, Traffic(tensor_bytes(shape, bits[name])))
            for name, shape in zip(subnet.outputs, subnet.output_shapes, strict=True)
            if name in flat
        ),
    )


_REMEMBERED = 64
"""Number of calls whose work is cached, for repeated simulations with other constants."""


def subnet_works(
    joined: JoinedSubnets, phone: Phone, *, inputs_in_l2: bool
) -> tuple[DspWork | HtaWork, ...]:
    """Prepare the subnets of a call; `inputs_in_l2` if the DSP quantises float inputs."""
    target = phone.dsp.target
    calls = (call for subnet in joined.subnets for call in subnet.calls)
    on_hvx = iter(_on_hvx(joined, target.seen_by(*calls), inputs_in_l2=inputs_in_l2))
    from_application = frozenset(joined.inputs)
    cold = _cold(joined, inputs_in_l2=inputs_in_l2)
    return tuple(
        next(on_hvx)
        if subnet.engine == "hvx"
        else hta_work(
            laid_down(subnet),
            phone.chip,
            target,
            from_application=from_application.intersection(subnet.inputs),
            in_ddr=cold,
            flat=frozenset(joined.outputs),
        )
        for subnet in joined.subnets
    )


@lru_cache(_REMEMBERED)
def _on_hvx(joined: JoinedSubnets, target: Target, *, inputs_in_l2: bool) -> tuple[DspWork, ...]:
    """Return the work of the subnets on HVX, which depends only on the target of a phone."""
    flat = joined.read_by("hvx") - joined.written_by("hta") | frozenset(joined.outputs)
    cold = _cold(joined, inputs_in_l2=inputs_in_l2)
    return tuple(
        dsp_work(laid_down(subnet), target, in_ddr=cold, for_hta=joined.read_by("hta"), flat=flat)
        for subnet in joined.subnets
        if subnet.engine == "hvx"
    )


def _cold(joined: JoinedSubnets, *, inputs_in_l2: bool) -> frozenset[str]:
    """Return the tensors that are in DDR as codes before the call."""
    quantised_inputs = joined.as_codes if inputs_in_l2 else frozenset(joined.inputs)
    return joined.written_by("hta") | quantised_inputs
