"""UserDefined: the user's own function of codes, which is called unchanged.

code = what the function returns, an integer from 0 to 255 (65535)

Constants are passed to it as real numbers.
"""

from dataclasses import dataclass, replace

from hexsim.layers.user_defined import UserDefined
from hexsim.lowering.lowered_call import LoweredCall, Operand
from hexsim.lowering.source import Lowerings, QuantizedSource
from hexsim.udl import Node, Scale, UserLayer
from hexsim.udl.definition import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class LoweredUserDefined(LoweredCall):
    """`node` is passed to the function; `arguments` has its inputs in the order of the operator.

    An argument is a position in `inputs`, a constant, or None.
    """

    definition: UserLayer
    node: Node
    arguments: tuple[int | Array | None, ...]


def lower_user_defined(layer: UserDefined, source: QuantizedSource) -> LoweredUserDefined:
    """Find the encodings of the inputs that vary, and the values of the constants."""
    network = source.model.network
    varying = tuple(dict.fromkeys(name for name in layer.inputs if name in network.tensors))
    inputs = tuple(source.operand(name, layer) for name in varying)
    output = source.operand(layer.output, layer)
    arguments: list[int | Array] = [
        varying.index(name) if name in varying else network.constants[name].value()
        for name in layer.inputs
    ]
    scales = [
        _scale(inputs[argument]) if isinstance(argument, int) else None for argument in arguments
    ]
    node = layer.node(network.input_shapes(layer), network.layer_outputs(layer))
    return LoweredUserDefined(
        layer.name,
        inputs,
        output,
        definition=layer.known,
        node=replace(node, input_scales=layer.at_places(scales), output_scale=_scale(output)),
        arguments=layer.at_places(arguments),
    )


def _scale(operand: Operand) -> Scale:
    return Scale(operand.delta, operand.zero_point, operand.bits)


LOWERINGS: Lowerings = {UserDefined: lower_user_defined}
