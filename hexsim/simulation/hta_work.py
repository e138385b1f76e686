"""What a subnet does on the tensor engine, prepared before time starts.

What the engine reads from the application has to be brought into its layout, and what it writes
for the application has to leave it. HVX does both, with the loops that bring
codes into d32 and out of it: the layouts are of one kind and no loop of theirs is published.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hexsim.datasheets.chips import Chip
from hexsim.hta.command_list import CommandList
from hexsim.hta.compiler import compile_subnet
from hexsim.hta.layout import flat_bytes, tensor_bytes
from hexsim.hvx.kernels import Target
from hexsim.hvx.kernels.conversion import from_d32, to_d32
from hexsim.planning.plan import PlannedSubnet
from hexsim.simulation.dsp_work import Edges, edges
from hexsim.timing.memory import Traffic


@dataclass(frozen=True)
class HtaWork:
    """The command list of a subnet, and changes of layout on HVX before and after it."""

    subnet: PlannedSubnet
    way_in: Edges
    command_list: CommandList
    way_out: Edges

    @property
    def edge_bytes(self) -> tuple[int, ...]:
        """Bytes of each tensor at the subnet's edges, without padding."""
        subnet = self.subnet
        names = (*subnet.inputs, *subnet.outputs)
        shapes = (*subnet.input_shapes, *subnet.output_shapes)
        return tuple(flat_bytes(s, subnet.bits[n]) for n, s in zip(names, shapes, strict=True))


def hta_work(
    subnet: PlannedSubnet,
    chip: Chip,
    target: Target,
    *,
    from_application: Collection[str],
    in_ddr: Collection[str],
    flat: Collection[str],
) -> HtaWork:
    """Compile a subnet and prepare the changes of layout around it.

    Inputs `from_application` arrive flat, those of them `in_ddr` there and the others in L2;
    outputs in `flat` leave flat.
    """
    bits = subnet.bits
    arriving = [
        (name, shape, Traffic(flat_bytes(shape, bits[name]) if name in in_ddr else 0))
        for name, shape in zip(subnet.inputs, subnet.input_shapes, strict=True)
        if name in from_application
    ]
    leaving = [
        (name, shape, Traffic(tensor_bytes(shape, bits[name])))
        for name, shape in zip(subnet.outputs, subnet.output_shapes, strict=True)
        if name in flat
    ]
    return HtaWork(
        subnet,
        way_in=edges(
            (
                f"to_hta {name}",
                to_d32(
                    shape,
                    target,
                    traffic + Traffic(write_bytes=tensor_bytes(shape, bits[name])),
                    bits[name],
                ),
            )
            for name, shape, traffic in arriving
        ),
        command_list=compile_subnet(subnet, chip.name, chip.hta),
        way_out=edges(
            (f"from_hta {name}", from_d32(shape, target, traffic, bits[name]))
            for name, shape, traffic in leaving
        ),
    )
