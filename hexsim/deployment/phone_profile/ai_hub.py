"""Reads the JSON of a profile job of AI Hub: execution_summary and execution_detail."""

from typing import Annotated, Any

from msgspec import Meta

from hexsim.deployment.phone_profile.profile import (
    MeasuredLayer,
    MeasuredRun,
    PhoneProfile,
    us_per_cycle,
)
from hexsim.texts.tables import Table, read

_RUNTIMES = {"CPU": "cpu", "GPU": "gpu"}
"""Runtimes by compute unit; NPU is whatever the chip has."""


class _LayerTimes(Table):
    name: str
    type: str = ""
    compute_unit: str = ""
    execution_time: float | None = None
    execution_cycles: float | None = None


class _Summary(Table):
    estimated_inference_time: Annotated[float, Meta(ge=0)] | None = None


class _Profile(Table):
    execution_detail: tuple[_LayerTimes, ...]
    execution_summary: _Summary = _Summary()


def is_ai_hub(tree: Any) -> bool:
    """Return True if the JSON `tree` is that of a profile job."""
    return isinstance(tree, dict) and "execution_detail" in tree


def read_ai_hub(tree: Any, where: str) -> PhoneProfile:
    """Return the run of a job; raise HexsimError, with `where`, for the first wrong key."""
    profile = read(_Profile, tree, where)
    total_us = profile.execution_summary.estimated_inference_time or 0.0
    detail = profile.execution_detail
    factor, remark = 0.0, ""
    if detail and not any(map(_us, detail)):
        cycles = [layer.execution_cycles or 0.0 for layer in detail]
        factor, remark = us_per_cycle(cycles, total_us, where)
    layers = tuple(
        MeasuredLayer(
            layer.name,
            (layer.execution_cycles or 0.0) * factor if factor else _us(layer),
            type=layer.type,
        )
        for layer in detail
    )
    units = {layer.compute_unit for layer in detail}
    runtime = _RUNTIMES.get(units.pop(), "") if len(units) == 1 else ""
    totals = {"estimated inference time": total_us} if total_us else {}
    run = MeasuredRun(runtime, layers, totals=totals)
    return PhoneProfile("AI Hub profile job", (run,) if layers else (), remark=remark)


def _us(layer: _LayerTimes) -> float:
    """Return the microseconds of a layer; the service writes a negative number for none."""
    return max(layer.execution_time or 0.0, 0.0)
