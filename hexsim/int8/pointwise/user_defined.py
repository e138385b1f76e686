"""UserDefined: the user's function of codes, which one thread calls."""

from hexsim.int8.prepared import Inputs, Out, Preparers, Steps, unpacked
from hexsim.int8.step import Workspace
from hexsim.lowering.user_defined import LoweredUserDefined
from hexsim.udl.calling import coded_values


@unpacked
def user_defined(
    call: LoweredUserDefined, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """The function itself, in Python."""
    arguments = [
        inputs[argument] if isinstance(argument, int) else argument for argument in call.arguments
    ]

    def work() -> None:
        output[...] = coded_values(call.definition, call.node, arguments)

    return [work]


PREPARERS: Preparers = {LoweredUserDefined: user_defined}
