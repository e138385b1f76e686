"""The form in which kernels take a layer: exchanged axes, phases, signed weights.

Images one pixel wide have height and width exchanged before they are converted to d32. A vector
of d32 holds four neighbours of a row, so an image of height H and width 1 would waste
three quarters of every vector. In NHWC the same bytes are an image of height 1 and width H, so a
runtime can exchange the axes at no cost. That it does is inferred: on sd865 a 1x1 convolution from
1920 to 5120 channels over 113x1 pixels takes 3.15 ms from call to return, less than the vector unit
at its highest clock needs for the entry and an image of width 1.

The axes are exchanged in the whole subnet or not at all: every image in it must be one pixel wide,
and no layer may name single axes.

A deconvolution is one convolution that computes all phases of the output. The published vector code
of Hexagon NN has no kernel for transposed convolutions, and the array of the tensor engine computes
convolutions; that both use phases is inferred.
"""

import dataclasses
from dataclasses import replace
from typing import Any, cast

from hexsim.datasheets.chips import SignedKernels
from hexsim.graph.ir import Layer, Shape
from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.plan import KernelCall, Plan, PlannedSubnet
from hexsim.runtimes import FIXED_POINT


def laid_down(subnet: PlannedSubnet) -> PlannedSubnet:
    """Return the subnet with height and width of every image exchanged, if that saves vectors."""
    shapes = [shape for call in subnet.calls for shape in (*call.operands, *call.results)]
    shapes += [*subnet.input_shapes, *subnet.output_shapes]
    narrow = [shape[1] for shape in shapes if len(shape) == 4 and shape[2] == 1]
    if len(narrow) < len(shapes) or max(narrow, default=1) == 1:
        return subnet
    turned = [layer.turned() for layer in subnet.layers]
    layers = [layer for layer in turned if layer is not None]
    if len(layers) < len(turned):
        return subnet
    return dataclasses.replace(
        subnet,
        calls=tuple(map(_turn_call, subnet.calls, layers)),
        input_shapes=tuple(map(_turn_shape, subnet.input_shapes)),
        output_shapes=tuple(map(_turn_shape, subnet.output_shapes)),
    )


def _turn_call(call: KernelCall, layer: Layer) -> KernelCall:
    return dataclasses.replace(
        call,
        layer=layer,
        operands=tuple(map(_turn_shape, call.operands)),
        results=tuple(map(_turn_shape, call.results)),
    )


def _turn_shape(shape: Shape) -> Shape:
    batch, height, width, channels = shape
    return batch, width, height, channels


def in_phases(call: KernelCall) -> KernelCall[Convolution]:
    """Return the call of the convolution that computes all phases of a deconvolution.

    Its weights include zeros that fill phases of fewer taps.
    """
    layer = call.layer
    assert isinstance(layer, Deconvolution)
    _, height, width, channels = call.operands[0]
    phases = layer.phases(height, width)
    outputs = phases.number * layer.output_channels
    convolution = Convolution(
        name=layer.name,
        inputs=layer.inputs,
        outputs=layer.outputs,
        weight=layer.weight,
        bias=layer.bias,
        window=phases.window,
        groups=layer.groups,
        clamp=layer.clamp,
        output_channels=outputs,
    )
    weight = (*phases.window.kernel, channels // layer.groups, outputs)
    return replace(
        cast("KernelCall[Any]", call),
        layer=convolution,
        results=convolution.output_shapes(call.operands),
        parameters=(weight, (outputs,))[: len(call.parameters)],
    )


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
