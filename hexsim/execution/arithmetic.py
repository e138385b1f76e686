"""How each subnet of a plan computes, and everything that decides the values of a plan."""

from __future__ import annotations

from typing import Literal

from hexsim.datasheets.chips import SignedKernels
from hexsim.graph.ir import Layer
from hexsim.onnx_io.write.precision import Precision
from hexsim.planning.kernel_forms import signed_layers_of
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.model import Model
from hexsim.records import dataclass, replace
from hexsim.runtimes import FIXED_POINT, Runtime

Kind = Precision | Literal["mixed", "codes"]
_EXACT_FUNCTIONS = "codes, with exact functions"
"""The tensor processor's, whose kernels are not Hexagon NN's."""

_PRECISIONS: dict[Runtime, Precision] = {
    "cpu": "float32",
    "gpu": "half_storage",
    "gpu_fp16": "float16",
    "htp_fp16": "float16",
}


def kind_of(subnet: PlannedSubnet, runtime: Runtime, model: Model) -> Kind:
    """Return how a subnet of a plan on `runtime` computes."""
    if subnet.runtime in FIXED_POINT:
        return "codes"
    if runtime in FIXED_POINT and model.floats:
        return "mixed"
    return _PRECISIONS[subnet.runtime]


@dataclass(frozen=True)
class Arithmetic:
    """Everything that decides what an executor computes; equal objects give equal values.

    Each entry of `subnets` says how a subnet computes, and has its layers, inputs and outputs.
    `signed` names the layers that multiply by signed weights.
    """

    model: Model
    subnets: tuple[tuple[str, tuple[Layer, ...], tuple[str, ...], tuple[str, ...]], ...]
    signed: frozenset[str]

    @classmethod
    def of(
        cls, plan: Plan, model: Model, *, signed_kernels: SignedKernels | None = None
    ) -> Arithmetic:
        """Return the arithmetic of a `PlanExecutor` with these arguments."""
        return cls(
            replace(model, hta=(), packs_weights=False),
            tuple(
                (
                    _EXACT_FUNCTIONS
                    if subnet.runtime == "htp"
                    else kind_of(subnet, plan.runtime, model),
                    subnet.layers,
                    subnet.inputs,
                    subnet.outputs,
                )
                for subnet in plan.subnets
            ),
            signed_layers_of(plan, signed_kernels),
        )
