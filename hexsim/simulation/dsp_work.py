"""The work of a subnet on HVX, prepared before the simulation: calls and changes of layout."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from hexsim.hta.layout import tensor_bytes
from hexsim.hvx.kernels import Target, activation_l2_bytes, node_work
from hexsim.hvx.kernels.conversion import from_d32, to_d32
from hexsim.hvx.layout import code_bytes, flat_tensors, is_spatial, reads_flat, tensor_sizes
from hexsim.planning.plan import KernelCall, PlannedSubnet
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
    calls = zip(subnet.calls, residency.calls, strict=True)
    return DspWork(
        subnet,
        input_conversions=edges(
            (f"to_d32 {name}", to_d32(shape, target, t, bits[name])) for name, shape, t in arriving
        ),
        calls=tuple(_call_work(call, target, traffic, stay_flat) for call, traffic in calls),
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
