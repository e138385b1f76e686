"""How much of L2 the weights of a layer take while it runs; the rest is left to activations.

Weights pass through in groups of slices. Before V65 the group in use stays in L2, beside the next
slice that is being fetched. Where the group in use is copied to VTCM, only the next group is in
L2; on the V66 with 1 MB that leaves the 768 KB that Hexagon NN budgets. A fully connected layer
fetches as far ahead as L2 lets it.

Activations always keep the share that a prefetch of their rows may fill.
Source: Hexagon NN, hexagon/ops/src/op_supernode_new.c (2599-2765), op_superfc_d32.c (718-722).
"""

from __future__ import annotations

from hexsim.hvx.kernels._blocking import prefetch_bytes
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels.convolution import Blocking, DenseShape
from hexsim.hvx.kernels.deconvolution import dense_shape, has_vector_code
from hexsim.hvx.layout import sheets
from hexsim.layers import Convolution, Deconvolution, FullyConnected
from hexsim.planning.deconvolution_phases import in_phases
from hexsim.planning.plan import KernelCall


def activation_l2_bytes(call: KernelCall, target: Target) -> int:
    """Bytes of L2 that activations may occupy during a call."""
    least = prefetch_bytes(target.l2_bytes)
    return max(least, target.l2_bytes - _weight_bytes(call, target))


def _weight_bytes(call: KernelCall, target: Target) -> int:
    layer = call.layer
    if isinstance(layer, FullyConnected):
        return target.l2_bytes
    if isinstance(layer, Deconvolution) and has_vector_code(call):
        if layer.groups > 1:
            return _weight_bytes(in_phases(call), target)
        return _group_bytes(Blocking(dense_shape(call), target))
    if not isinstance(layer, Convolution):
        return 0
    if layer.is_depthwise(call.operands[0][-1]):
        return call.parameter_bytes
    return _group_bytes(Blocking(DenseShape.of(call, layer), target))


def _group_bytes(blocking: Blocking) -> int:
    slices = blocking.group if blocking.in_vtcm else blocking.group + 1
    return min(slices, sheets(blocking.shape.channels)) * blocking.shape.slice_bytes
