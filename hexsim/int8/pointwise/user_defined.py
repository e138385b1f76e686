"""UserDefined: the user's function of codes, which one thread calls."""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.int8.prepared import Out, Preparers
from hexsim.int8.step import Work, Workspace
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.user_defined import LoweredUserDefined
from hexsim.udl.calling import coded_values


class PreparedUserDefined:
    """Nothing is packed."""

    def __init__(self, call: LoweredUserDefined) -> None:
        self._call = call

    def steps(self, inputs: Sequence[Codes], output: Out, workspace: Workspace) -> list[Work]:
        """See PreparedCall."""
        call = self._call
        arguments = [
            inputs[argument] if isinstance(argument, int) else argument
            for argument in call.arguments
        ]

        def work() -> None:
            output[...] = coded_values(call.definition, call.node, arguments)

        return [work]


PREPARERS: Preparers = {LoweredUserDefined: PreparedUserDefined}
