"""A deconvolution on engines that know convolutions: one of all phases of the output.

Hexagon NN has no transposed convolution kernel among its published vector code, and the tensor
engine's array multiplies as for a convolution; that both take the phases is inferred.
"""

from __future__ import annotations

from dataclasses import replace

from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.plan import KernelCall


def in_phases(call: KernelCall) -> KernelCall:
    """Return the call of the convolution that makes all phases of a deconvolution.

    Its weights include those of real zero that fill phases of fewer taps.
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
        call,
        layer=convolution,
        results=convolution.output_shapes(call.operands),
        parameters=(weight, (outputs,))[: len(call.parameters)],
    )
