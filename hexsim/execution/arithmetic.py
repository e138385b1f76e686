"""How each subnet of a plan computes, and everything that decides the values of a plan."""

from __future__ import annotations

from itertools import groupby
from typing import Literal

from hexsim.datasheets.chips import SignedKernels
from hexsim.graph.ir import Layer
from hexsim.layers import Neuron, Prelu, Softmax
from hexsim.onnx_io.write.precision import Precision
from hexsim.planning.kernel_forms import signed_layers_of
from hexsim.planning.plan import Plan, PlannedSubnet
from hexsim.quantization.model import Model
from hexsim.records import dataclass, replace
from hexsim.runtimes import FIXED_POINT, Runtime

Kind = Precision | Literal["mixed", "codes"]
_FUNCTIONS = (Neuron, Prelu, Softmax)
"""Layers some of which Hexagon NN computes by rules of its own, the tensor processor exactly."""

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
    Subnets in codes that follow each other are one, without ends: codes pass unchanged, so it does
    not matter where they are cut. `exact` names the layers that the tensor processor computes
    otherwise than Hexagon NN, `signed` those whose weights become signed.
    """

    model: Model
    subnets: tuple[tuple[Kind, tuple[Layer, ...], tuple[str, ...], tuple[str, ...]], ...]
    exact: frozenset[str]
    signed: frozenset[str]

    @classmethod
    def of(
        cls, plan: Plan, model: Model, *, signed_kernels: SignedKernels | None = None
    ) -> Arithmetic:
        """Return the arithmetic of a `PlanExecutor` with these arguments."""
        entries: list[tuple[Kind, tuple[Layer, ...], tuple[str, ...], tuple[str, ...]]] = []
        kinds = groupby(plan.subnets, lambda subnet: kind_of(subnet, plan.runtime, model))
        for kind, run in kinds:
            if kind == "codes":
                entries.append((kind, tuple(layer for s in run for layer in s.layers), (), ()))
            else:
                entries += [(kind, s.layers, s.inputs, s.outputs) for s in run]
        exact = (
            layer.name
            for s in plan.subnets
            for layer in s.layers
            if s.runtime == "htp" and isinstance(layer, _FUNCTIONS)
        )
        changed = {
            call.layer.name for s in plan.subnets for call in s.calls if not call.symmetric_weights
        }
        return cls(
            replace(model, hta=(), packs_weights=False),
            tuple(entries),
            frozenset(exact),
            signed_layers_of(plan, signed_kernels) & changed,
        )
