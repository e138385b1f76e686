"""Executes a plan's values: float subnets in onnxruntime, fixed-point subnets in int8 kernels.

Between subnets every tensor is float32, as on the real runtime, where the CPU side of an edge
holds floats and a fixed-point subnet converts at its edges.
"""

from __future__ import annotations

from collections.abc import Mapping

from hexsim import budget
from hexsim.binding import bind
from hexsim.errors import HexsimError
from hexsim.execution.arithmetic import kind_of
from hexsim.execution.mixed_subnet import MixedSubnet
from hexsim.execution.subnet_executor import SubnetExecutor
from hexsim.graph.ir import FloatArray
from hexsim.int8.runner import IntegerSubnet
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime


class PlanExecutor:
    """A plan made ready to run on any number of inputs.

    `signed_weights` says whether the kernels of HVX take signed weights (V65 and later); those
    of the tensor engine take the codes as they are.
    `threads` share the work of a layer, 0 for one per core; values do not depend on it.
    """

    def __init__(
        self,
        plan: Plan,
        model: Model,
        *,
        signed_weights: bool = False,
        threads: int = 0,
    ) -> None:
        elements = sum(tensor.elements for tensor in plan.network.tensors.values())
        budget.require(budget.VALUES, elements, f"an inference of network '{plan.network.name}'")
        self.plan = plan
        self._steps = [
            (subnet, _executor(subnet, plan.runtime, model, signed_weights, threads))
            for subnet in plan.subnets
        ]

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the network's outputs for `inputs`, all float32 in stored order."""
        values = dict(inputs)
        for subnet, executor in self._steps:
            values.update(executor.run({name: values[name] for name in subnet.inputs}))
        return {name: values[name] for name in self.plan.network.outputs}


def _executor(
    subnet: PlannedSubnet,
    runtime: Runtime,
    model: Model,
    signed_weights: bool,
    threads: int,
) -> SubnetExecutor:
    kind = kind_of(subnet, runtime, model, signed_weights)
    if kind == "mixed":
        return MixedSubnet(subnet, model, threads)
    if kind != "codes" and kind != "signed codes":
        part = model.as_stored.subnetwork(subnet.layers, subnet.inputs, subnet.outputs)
        return FloatEngine(part, precision=kind, threads=threads)
    if not model.quantized:
        raise HexsimError(
            f"runtime {subnet.runtime} computes in integers; quantise the model first"
        )
    calls = bind(subnet, model, signed_weights=kind == "signed codes")
    return IntegerSubnet(calls, subnet.inputs, subnet.outputs, threads)
