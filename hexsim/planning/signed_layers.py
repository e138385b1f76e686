"""The layers of a subnet whose kernels multiply by signed weights."""

from hexsim.datasheets.signed_kernels import SignedKernels
from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.deconvolution_phases import in_phases
from hexsim.planning.orientation import laid_down
from hexsim.planning.plan import KernelCall, Plan, PlannedSubnet
from hexsim.runtimes import FIXED_POINT


def takes_signed_weights(call: KernelCall, kernels: SignedKernels) -> bool:
    """Return whether the kernel of a call multiplies by signed weights.

    A grouped convolution is a dense one for each group, a deconvolution the convolution that
    computes all its phases.
    """
    inner = in_phases(call) if isinstance(call.layer, Deconvolution) else call
    layer = inner.layer
    if not isinstance(layer, Convolution):
        return False
    channels = inner.operands[0][-1]
    if layer.is_depthwise(channels):
        return False
    return kernels.take(layer.window.kernel, channels // layer.groups, layer.window.strides[1])


def signed_layers(subnet: PlannedSubnet, kernels: SignedKernels | None) -> frozenset[str]:
    """Return the names of the layers whose kernels multiply by signed weights.

    There are none if `kernels` is None, nor on the tensor engine, which takes unsigned codes.
    """
    if kernels is None or subnet.engine == "hta":
        return frozenset()
    return frozenset(
        call.layer.name for call in laid_down(subnet).calls if takes_signed_weights(call, kernels)
    )


def signed_layers_of(plan: Plan, kernels: SignedKernels | None) -> frozenset[str]:
    """Return the names of those layers in all fixed-point subnets of a plan."""
    return frozenset().union(
        *(
            signed_layers(subnet, kernels)
            for subnet in plan.subnets
            if subnet.runtime in FIXED_POINT
        )
    )
