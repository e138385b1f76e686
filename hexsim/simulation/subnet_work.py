"""The work of the subnets of one call, prepared before the simulation.

The tensor engine reads and writes DDR. So the tensors that an HVX subnet takes from it are in DDR
in the layout of the engine, and those that HVX passes to it are written to DDR in that layout.
"""

from functools import lru_cache

from hexsim.hvx.kernels import Target
from hexsim.planning.joined import JoinedSubnets
from hexsim.planning.orientation import laid_down
from hexsim.simulation.dsp_work import DspWork, dsp_work
from hexsim.simulation.hta_work import HtaWork, hta_work
from hexsim.simulation.phone import Phone

_REMEMBERED = 64
"""Number of calls whose work is cached, for repeated simulations with other constants."""


def subnet_works(
    joined: JoinedSubnets, phone: Phone, *, inputs_in_l2: bool
) -> tuple[DspWork | HtaWork, ...]:
    """Prepare the subnets of a call; `inputs_in_l2` if the DSP quantises float inputs."""
    target = phone.dsp.target
    on_hvx = iter(_on_hvx(joined, target, inputs_in_l2=inputs_in_l2))
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
