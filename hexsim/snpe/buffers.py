"""The user buffers that the options of a tool select, for values and for time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.datasheets.stacks import BufferType
    from hexsim.deployment import Deployment
    from hexsim.execution.user_buffers import Buffer, Buffered, BufferKind


@dataclass(frozen=True)
class Buffers:
    """The form of inputs and outputs."""

    input_buffers: str | None = None
    output_buffers: str | None = None
    static_min_max: bool = False
    native_inputs: bool = False
    native_outputs: bool = False

    def kinds(self) -> tuple[BufferKind | None, BufferKind | None]:
        """Return the kinds of input and output buffers; by default both are the same."""
        from hexsim.execution.user_buffers import KINDS

        inputs = None if self.input_buffers is None else KINDS[self.input_buffers]
        outputs = inputs if self.output_buffers is None else KINDS[self.output_buffers]
        return inputs, outputs

    def inputs(self, deployment: Deployment) -> dict[str, Buffer]:
        """Return the buffers of the inputs."""
        from hexsim.execution.user_buffers import KINDS, buffers

        kind, network = self.kinds()[0], deployment.network
        formats = {network.input_format(name).encoding for name in network.inputs}
        if kind and "nv21" in formats:
            raise HexsimError("an NV21 input is not for user buffers; leave --userbuffer_... out")
        static = self.static_min_max or self.native_inputs
        # Codes in files have a range before the network is calibrated on them, or have none.
        model = deployment.model if deployment.calibrates and static else deployment.loaded
        return buffers(model, network.inputs, kind or KINDS["float"], static=static)

    def around(self, deployment: Deployment) -> Buffered:
        """Return the executor of a deployment with its buffers around it."""
        from hexsim.execution.user_buffers import KINDS, Buffered, buffers

        kind = self.kinds()[1] or KINDS["float"]
        native = {"inputs": self.native_inputs, "outputs": self.native_outputs}
        return Buffered(
            deployment.executor(),
            self.inputs(deployment),
            buffers(deployment.loaded, deployment.network.outputs, kind),
            frozenset(side for side, is_native in native.items() if is_native),
        )

    def timed(self, deployment: Deployment) -> BufferType | None:
        """Return the buffer type for the simulation of time; None is the stack's default.

        Quantised values are passed unchanged only if the runtime computes in their width.
        """
        from hexsim.runtimes import FIXED_POINT

        inputs, _ = self.kinds()
        if inputs is None:
            return None
        stack = deployment.platform.stack
        if inputs.form == "float" or deployment.runtime not in FIXED_POINT:
            return stack.buffer("float")
        bits = {
            name: width for subnet in deployment.plan.subnets for name, width in subnet.bits.items()
        }
        widths = {bits[name] for name in deployment.network.inputs if name in bits}
        fits = inputs.form == "auto" or widths <= {inputs.bits}
        return stack.buffer("tf8" if fits else "float")
