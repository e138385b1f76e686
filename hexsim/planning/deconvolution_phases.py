"""A deconvolution as one convolution that computes all phases of the output.

The published vector code of Hexagon NN has no kernel for transposed convolutions, and the array of
the tensor engine computes convolutions; that both use phases is inferred.
"""

from dataclasses import replace
from typing import Any, cast

from hexsim.layers import Convolution, Deconvolution
from hexsim.planning.plan import KernelCall


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
