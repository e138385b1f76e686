"""The work of a subnet on the tensor engine, prepared before the simulation.

Inputs from the application are converted to the engine's layout, and outputs for the application
from it. HVX does both, in the time of the loops that convert quantised values to and from d32,
because the layouts are similar and the engine's own loops are not published.
"""

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
    input_conversions: Edges
    command_list: CommandList
    output_conversions: Edges

    @property
    def edge_bytes(self) -> tuple[int, ...]:
        """Bytes of each input and output of the subnet, without padding."""
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

    Inputs in `from_application` are flat, in DDR if they are in `in_ddr` and otherwise in L2;
    outputs in `flat` become flat.
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
        input_conversions=edges(
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
        output_conversions=edges(
            (f"from_hta {name}", from_d32(shape, target, traffic, bits[name]))
            for name, shape, traffic in leaving
        ),
    )
