"""What the subnets of one call do, prepared before time starts.

The tensor engine reads and writes DDR, so what an HVX subnet takes from it is there and comes from
its layout, and what HVX hands to it is written back in that layout.
"""

from __future__ import annotations

from hexsim.hvx.orientation import laid_down
from hexsim.planning.joined import JoinedSubnets
from hexsim.simulation.dsp_work import DspWork, dsp_work
from hexsim.simulation.hta_work import HtaWork, hta_work
from hexsim.simulation.phone import Phone


def subnet_works(
    joined: JoinedSubnets, phone: Phone, *, inputs_in_l2: bool
) -> tuple[DspWork | HtaWork, ...]:
    """Prepare the subnets of a call; `inputs_in_l2` if the DSP makes codes of float inputs."""
    target = phone.dsp.target
    from_application = frozenset(joined.inputs)
    from_hta = joined.written_by("hta")
    as_they_are = joined.as_codes if inputs_in_l2 else from_application
    cold = from_hta | as_they_are
    flat = joined.read_by("hvx") - from_hta | frozenset(joined.outputs)
    return tuple(
        dsp_work(
            laid_down(subnet),
            target,
            in_ddr=cold,
            for_hta=joined.read_by("hta"),
            flat=flat,
        )
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
