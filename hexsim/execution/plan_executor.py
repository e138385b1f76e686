"""Executes a plan's values: float subnets in onnxruntime, fixed-point subnets in int8 kernels.

Between subnets every tensor is float32, as on the real runtime, where the CPU side of an edge
holds floats and a fixed-point subnet converts at its edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hexsim.binding import bind
from hexsim.errors import HexsimError
from hexsim.execution.mixed_subnet import MixedSubnet
from hexsim.graph.ir import FloatArray, Network
from hexsim.int8.runner import IntegerSubnet
from hexsim.onnx_io.float_engine import FloatEngine, Precision
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.runtimes import FIXED_POINT, Runtime

_PRECISIONS: dict[Runtime, Precision] = {
    "cpu": "float32",
    "gpu": "half_storage",
    "gpu_fp16": "float16",
}


class SubnetExecutor(Protocol):
    """Anything that maps a subnet's input arrays to its output arrays."""

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Arrays in stored order, by tensor name."""


class PlanExecutor:
    """A plan made ready to run on any number of inputs.

    `signed_weights` says whether the kernels of HVX take signed weights (V65 and later); those
    of the tensor engine take the codes as they are.
    `threads` share the work of a layer, 0 for one per core; values do not depend on it.
    """

    def __init__(
        self,
        plan: Plan,
        model: Network | QuantizedNetwork,
        *,
        signed_weights: bool = False,
        threads: int = 0,
    ) -> None:
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
    model: Network | QuantizedNetwork,
    signed_weights: bool,
    threads: int,
) -> SubnetExecutor:
    if subnet.runtime not in FIXED_POINT:
        if runtime in FIXED_POINT and isinstance(model, QuantizedNetwork) and model.floats:
            return MixedSubnet(subnet, model, threads)
        network = model.network if isinstance(model, QuantizedNetwork) else model
        part = network.subnetwork(subnet.layers, subnet.inputs, subnet.outputs)
        return FloatEngine(part, precision=_PRECISIONS[subnet.runtime], threads=threads)
    if not isinstance(model, QuantizedNetwork):
        raise HexsimError(
            f"runtime {subnet.runtime} computes in integers; quantise the model first"
        )
    calls = bind(subnet, model, signed_weights=signed_weights and subnet.engine == "hvx")
    return IntegerSubnet(calls, subnet.inputs, subnet.outputs, threads)


def stored_inputs(
    network: Network, arrays: Mapping[str, npt.NDArray[np.generic]]
) -> dict[str, FloatArray]:
    """Check a user's input arrays (ONNX axis order) and return them float32 in stored order.

    Raises HexsimError naming the input, what it is and what was expected.
    """
    surplus = [name for name in arrays if name not in network.inputs]
    missing = [name for name in network.inputs if name not in arrays]
    if surplus or missing:
        raise HexsimError(
            f"network '{network.name}' has the inputs {', '.join(network.inputs)}; "
            f"got {', '.join(arrays) or 'none'}"
        )
    return {name: _stored(network, name, np.asarray(arrays[name])) for name in network.inputs}


def _stored(network: Network, name: str, array: npt.NDArray[np.generic]) -> FloatArray:
    tensor = network.tensors[name]
    if array.dtype.kind not in "fiub":
        raise HexsimError(f"input '{name}' has dtype {array.dtype}; give numbers (float32)")
    if array.shape != tensor.source_shape:
        raise HexsimError(
            f"input '{name}' has shape {_shape(array.shape)}, "
            f"the model expects {_shape(tensor.source_shape)}"
        )
    values = array.astype(tensor.dtype, copy=False)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise HexsimError(f"input '{name}' holds NaN or infinite values")
    return tensor.from_source(values)  # type: ignore[return-value]


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
