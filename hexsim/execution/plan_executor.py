"""Computes the values of a plan: float subnets in onnxruntime, fixed-point subnets in int8 kernels.

Between subnets every tensor is float32, as on the real runtime: the CPU side holds floats, and a
fixed-point subnet converts its inputs and outputs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from hexsim import budget
from hexsim.datasheets.signed_kernels import SignedKernels
from hexsim.errors import HexsimError
from hexsim.execution.arithmetic import kind_of
from hexsim.execution.execution_contexts import contexts_for
from hexsim.execution.mixed_subnet import MixedSubnet
from hexsim.execution.subnet_executor import SubnetExecutor
from hexsim.graph.ir import FloatArray
from hexsim.int8.runner import IntegerSubnet
from hexsim.lowering import lower
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from hexsim.threads.in_order import side_by_side

Values = dict[str, FloatArray]

_LEAST = 1 << 19
"""Elements of tensors and constants per subnet from which on a list runs in several execution
contexts. Measured on two cores: with 0.3 million elements a list gains less from contexts than from
sharing rows, with 0.8 million more."""


class _SubnetRun(Protocol):
    """The function that runs a subnet."""

    def __call__(self, inputs: Mapping[str, FloatArray], /) -> Values:
        """Return the outputs."""


class PlanExecutor:
    """A plan made ready to run on any number of inputs.

    `signed_kernels` are the kernels of HVX that multiply by signed weights (V65 and V66), None
    without any; all others take the stored codes (quantised values).

    `threads` share the work of a layer, or a list of inputs; 0 means one per core. Values do not
    depend on it.
    """

    def __init__(
        self,
        plan: Plan,
        model: Model,
        *,
        signed_kernels: SignedKernels | None = None,
        threads: int = 0,
    ) -> None:
        elements = sum(tensor.elements for tensor in plan.network.tensors.values())
        budget.require(budget.VALUES, elements, f"an inference of network '{plan.network.name}'")
        self.plan = plan
        self.threads = threads
        self._executors = [
            _executor(subnet, plan.runtime, model, signed_kernels, threads)
            for subnet in plan.subnets
        ]
        self._single = _SubnetChain(plan, [executor.run for executor in self._executors])

    def run(self, inputs: Mapping[str, FloatArray]) -> Values:
        """Return the network's outputs for `inputs`, all float32 in stored order."""
        return self._single.run(inputs)

    def run_each(self, feeds: Iterable[Mapping[str, FloatArray]]) -> Iterator[Values]:
        """Yield what `run` returns for each of `feeds`, in their order.

        If that is faster, inferences run side by side; some feeds are then read ahead.
        """
        # onnxruntime shares out the rows of a float network as well as we could share out a list.
        if not any(isinstance(executor, IntegerSubnet) for executor in self._executors):
            return map(self.run, feeds)
        visits = len(self._executors)
        count = contexts_for(self.plan.network, self.threads, least=_LEAST, visits=visits)
        if count == 1:
            return map(self.run, feeds)
        return side_by_side(
            feeds, self.run, lambda: [context.run for context in self.contexts(count)]
        )

    def contexts(self, count: int) -> list[SubnetExecutor]:
        """Return `count` executors of one thread each that may run side by side."""
        runs_of_subnets = [_in_context(executor, count) for executor in self._executors]
        return [_SubnetChain(self.plan, runs) for runs in zip(*runs_of_subnets, strict=True)]


class _SubnetChain:
    """The subnets of a plan one after the other, each run by one of `runs`."""

    def __init__(self, plan: Plan, runs: Sequence[_SubnetRun]) -> None:
        self._outputs = plan.network.outputs
        self._steps = list(zip(plan.subnets, runs, strict=True))

    def run(self, inputs: Mapping[str, FloatArray]) -> Values:
        """Return the network's outputs."""
        values = dict(inputs)
        for subnet, run in self._steps:
            values.update(run({name: values[name] for name in subnet.inputs}))
        return {name: values[name] for name in self._outputs}


def _in_context(executor: IntegerSubnet | SubnetExecutor, count: int) -> Sequence[_SubnetRun]:
    """Return the functions that run a subnet in `count` execution contexts.

    A float subnet has one executor, which all contexts share.
    """
    if isinstance(executor, IntegerSubnet):
        return [context.run_alone for context in executor.contexts(count)]
    return [executor.run] * count


def _executor(
    subnet: PlannedSubnet,
    runtime: Runtime,
    model: Model,
    signed_kernels: SignedKernels | None,
    threads: int,
) -> SubnetExecutor:
    kind = kind_of(subnet, runtime, model)
    if kind in ("mixed", "codes") and model.uncalibrated:
        raise HexsimError(
            f"the range of tensor '{model.uncalibrated[0]}' of network '{model.name}' is unknown; "
            "calibrate the network on inputs"
        )
    if kind == "mixed":
        return MixedSubnet(subnet, model, threads)
    if kind != "codes":
        part = model.as_stored.subnetwork(subnet.layers, subnet.inputs, subnet.outputs)
        return FloatEngine(part, precision=kind, threads=threads)
    if not model.quantized:
        raise HexsimError(
            f"runtime {subnet.runtime} computes in integers; quantise the model first"
        )
    calls = lower(subnet, model, signed_kernels=signed_kernels)
    return IntegerSubnet(calls, subnet.inputs, subnet.outputs, threads)
