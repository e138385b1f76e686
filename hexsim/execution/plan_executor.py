"""Computes the values of a plan: float subnets in onnxruntime, fixed-point subnets in int8 kernels.

Between subnets every tensor is float32, as on the real runtime: the CPU side holds floats, and a
fixed-point subnet converts its inputs and outputs.

In a network that has float layers among integer layers, consecutive float layers of one width are
run by onnxruntime, in float32 or with every result rounded to float16. A Convert layer at a float
layer rounds to the quantised values, or to the float16 values, of both its input and its output, so
that a float layer reads and writes what the network says. Weights and biases are those of the file,
since a bias may be wider than its layer.

Left out: float16 arithmetic. The CPU runtime computes in float32, and 16 bits are a form of
storage.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, Protocol

from hexsim import budget
from hexsim.datasheets.chips import SignedKernels
from hexsim.errors import HexsimError
from hexsim.execution.arithmetic import kind_of
from hexsim.execution.executors import SubnetExecutor, contexts_for
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.graph.liveness import elements_at_once
from hexsim.int8.runner import IntegerSubnet
from hexsim.lowering import lower
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.float_layers import converts_floats
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from hexsim.threads import side_by_side

Values = dict[str, FloatArray]
_Kind = Literal["convert", 16, 32]


class MixedSubnet:
    """A CPU subnet made ready to run, with float32 inputs and outputs.

    `threads` share the work of a layer; 0 means one per core.
    """

    def __init__(self, subnet: PlannedSubnet, model: Model, threads: int = 0) -> None:
        self._outputs = subnet.outputs
        part = model.as_stored.subnetwork(subnet.layers, subnet.inputs, subnet.outputs)
        runs = groupby(part.layers, key=lambda layer: _kind(layer, model))
        self._runs = [_run(kind, tuple(layers), part, model, threads) for kind, layers in runs]

    def run(self, inputs: Mapping[str, FloatArray]) -> Values:
        """Return the outputs for `inputs`, arrays by tensor name in stored order."""
        values = dict(inputs)
        for run in self._runs:
            values.update(run.run(values))
        return {name: values[name] for name in self._outputs}


class _Conversions:
    """Convert layers, none of which reads the output of another one."""

    def __init__(self, layers: Sequence[Layer], part: Network, model: Model) -> None:
        self._tensors = [(layer.inputs[0], layer.outputs[0]) for layer in layers]
        self._part = part
        self._model = model

    def run(self, values: Mapping[str, FloatArray]) -> Values:
        """Return the outputs of the layers."""
        return {target: self._converted(source, target, values) for source, target in self._tensors}

    def _converted(self, source: str, target: str, values: Mapping[str, FloatArray]) -> FloatArray:
        constants = self._part.constants
        array = constants[source].finite() if source in constants else values[source]
        return self._model.rounded(target, self._model.rounded(source, array))


def _kind(layer: Layer, model: Model) -> _Kind:
    return "convert" if converts_floats(layer, model) else model.floats.get(layer.outputs[0], 32)


def _run(
    kind: _Kind, layers: Sequence[Layer], part: Network, model: Model, threads: int
) -> _Conversions | FloatEngine:
    if kind == "convert":
        return _Conversions(layers, part, model)
    names = {layer.name for layer in layers}
    written = [name for layer in layers for name in layer.outputs]
    read = dict.fromkeys(n for layer in layers for n in layer.inputs if n in part.tensors)
    outputs = [
        name
        for name in written
        if name in part.outputs
        or any(reader.name not in names for reader in part.consumers.get(name, ()))
    ]
    inputs = [name for name in read if name not in written]
    precision: Precision = "half_results" if kind == 16 else "float32"
    return FloatEngine(part.subnetwork(layers, inputs, outputs), None, precision, threads)


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
        elements = elements_at_once(plan.network, plan.network.outputs)
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
