"""What a subnet does on the DSP, prepared before time starts: its calls and the ways in and out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from hexsim.hvx.kernels import Target, activation_l2_bytes, node_work
from hexsim.hvx.kernels.conversion import from_d32, taken_flat, to_d32
from hexsim.hvx.layout import code_bytes, tensor_sizes
from hexsim.plan import PlannedSubnet
from hexsim.residency import subnet_traffic
from hexsim.work import NodeWork, Stage


@dataclass(frozen=True)
class DspWork:
    """Named changes of layout before and after the calls of a subnet, and the calls in order."""

    way_in: tuple[tuple[str, NodeWork], ...]
    calls: tuple[NodeWork, ...]
    way_out: tuple[tuple[str, NodeWork], ...]


def dsp_work(subnet: PlannedSubnet, target: Target, *, inputs_in_l2: bool = True) -> DspWork:
    """Cut a subnet into work items and decide what of its activations goes through DDR.

    The codes of the inputs are in L2 if the DSP has just made them of floats; otherwise, and where
    they arrived as codes, the CPU left them in DDR.
    """
    made_here = frozenset(subnet.inputs) - subnet.as_codes if inputs_in_l2 else frozenset()
    named = tuple(zip(subnet.inputs, subnet.input_shapes, strict=True))
    cold = tuple(name for name, shape in named if name not in made_here and taken_flat(shape))
    shares = [activation_l2_bytes(call, target) for call in subnet.calls]
    moved = subnet_traffic(subnet, target.l2_bytes, shares, tensor_sizes(subnet), cold)
    arriving = (
        (
            name,
            shape,
            traffic
            if name in made_here
            else traffic.reading(math.prod(shape) * code_bytes(subnet, name)),
        )
        for (name, shape), traffic in zip(named, moved.inputs, strict=True)
    )
    leaving = zip(subnet.outputs, subnet.output_shapes, moved.outputs, strict=True)
    bits = subnet.bits
    calls = zip(subnet.calls, moved.calls, strict=True)
    return DspWork(
        way_in=_edges(
            (f"to_d32 {name}", to_d32(shape, target, t, bits[name])) for name, shape, t in arriving
        ),
        calls=tuple(node_work(call, target, traffic) for call, traffic in calls),
        way_out=_edges(
            (f"from_d32 {name}", from_d32(shape, target, t, bits[name]))
            for name, shape, t in leaving
        ),
    )


def _edges(stages: Iterable[tuple[str, Stage | None]]) -> tuple[tuple[str, NodeWork], ...]:
    """A node for every change of layout that there is."""
    return tuple((name, NodeWork((stage,), "kernel")) for name, stage in stages if stage)
