"""Makes the document of an inference from what simulation, kernels and studies give.

It also has what background clients cost the network, and what it costs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from hexsim.datasheets.quantity import Estimate
from hexsim.deployment.calibration import CalibrationProfile
from hexsim.deployment.platform import Platform
from hexsim.energy import Energy
from hexsim.results import costs
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload, clients_alone
from hexsim.studies.row_names import inference, initialisation
from hexsim.texts.fields import taken
from hexsim.texts.tables import tree_of
from hexsim.timing.picoseconds import PS_PER_US
from hexsim.timing.results import ClientTiming, InferenceTiming, LayerTiming, Overhead, Result

if TYPE_CHECKING:
    from hexsim.deployment.platform import Anchor, Platform
    from hexsim.energy import Spent
    from hexsim.studies.uncertainty import DrawnTimes, Uncertainty


_PURPOSE_BY_NAME: Mapping[str, str] = {
    "input_conversion": "converting inputs to codes",
    "output_conversion": "converting outputs to floats",
    "input_copy": "copying inputs and outputs",
    "output_copy": "copying inputs and outputs",
    "gpu_launches": "launching kernels on the GPU",
    "htp_call": "calling the tensor processor and returning",
    "from_cpu": "going to the CPU and back",
    "to_cpu": "going to the CPU and back",
}
_PURPOSE_BY_SCOPE: Mapping[str, str] = {
    "runtime": "the runtime on the CPU",
    "rpc": "calling the DSP and returning",
    "executor": "the executor on the DSP",
    "graph": "starting the graph and changing layouts",
}


def times_of(timing: Result, energy: Energy) -> dict[str, Any]:
    """Return the fields of an inference that its times give, with the energy of its layers."""
    layers = zip(timing.layers, energy.layers, strict=True)
    overheads = zip(timing.overheads, energy.overheads, strict=True)
    covered, init = timing.coverage, dict[str, float]()
    for part in timing.init:
        init[part.name] = init.get(part.name, 0.0) + part.us
    return {
        "total_inference_us": timing.total_us,
        "forward_propagate_us": timing.forward_us,
        "initialisation_total_us": timing.init_ps / PS_PER_US,
        "initialisation_us": init,
        "snpe_rows": {
            name: duration_ps / PS_PER_US
            for name, duration_ps in (*initialisation(timing), *inference(timing))
        },
        "coverage": {
            model: costs.CostModelShare(
                layers=covered.layer_share(model), macs=covered.mac_share(model)
            )
            for model in covered.layers
        },
        "layers": tuple(_layer(layer, spent) for layer, spent in layers),
        "overheads": tuple(_overhead(part, spent) for part, spent in overheads),
        "timing": timing,
    }


def _layer(layer: LayerTiming, spent: Spent) -> costs.LayerCost:
    return taken(
        costs.LayerCost,
        layer,
        **_millijoules(spent.estimate),
        parts_us={bound: part / PS_PER_US for bound, part in layer.parts_ps.items()},
        parts_mj={part: energy.value for part, energy in spent.parts.items()},
        start_us=layer.start_ps / PS_PER_US,
    )


def _overhead(part: Overhead, spent: Spent) -> costs.OverheadCost:
    purpose = _PURPOSE_BY_NAME.get(part.name) or _PURPOSE_BY_SCOPE[part.scope]
    return taken(costs.OverheadCost, part, **_millijoules(spent.estimate), purpose=purpose)


def _millijoules(estimate: Estimate) -> dict[str, float]:
    return {"mj": estimate.value, "mj_low": estimate.low, "mj_high": estimate.high}


def energy_use(energy: Energy) -> costs.EnergyUse:
    """Return the energy of an inference."""
    parts: dict[str, costs.Millijoule] = {
        part: costs.Millijoule(**_millijoules(spent)) for part, spent in energy.parts.items()
    }
    return costs.EnergyUse(**_millijoules(energy.estimate), parts_mj=parts)


def interval_of(uncertainty: Uncertainty, measured_outside: costs.Figures) -> costs.Interval:
    """Return the interval of the times."""
    constants = zip(uncertainty.sensitivities, uncertainty.shares, strict=True)
    return costs.Interval(
        swept=uncertainty.scope,
        **_ends(uncertainty),
        measured_outside_ms=measured_outside,
        constants=tuple(
            taken(
                costs.ConstantEffect,
                effect.constant,
                stated_by=effect.datasheet,
                constant=effect.path,
                interval=(effect.low, effect.high),
                total_inference_us=(effect.at_low.total_us, effect.at_high.total_us),
                share=share,
            )
            for effect, share in constants
        ),
    )


def draws_of(drawn: DrawnTimes) -> costs.Draws:
    """Return the times of the draws."""
    totals = tuple(times.total_us for times in drawn.times)
    return costs.Draws(count=len(totals), **_ends(drawn), totals_us=totals)


def _ends(doubt: Uncertainty | DrawnTimes) -> dict[str, Any]:
    low, high = doubt.low, doubt.high
    return {
        "total_inference_us": (low.total_us, high.total_us),
        "forward_propagate_us": (low.forward_us, high.forward_us),
        "initialisation_us": (low.initialisation_us, high.initialisation_us),
    }


def anchor_fields(anchor: Anchor | None) -> dict[str, Any]:
    """Return the fields of a result that say what was measured on a phone, and its error."""
    if anchor is None:
        return {}
    causes = {name: tree_of(cause) for name, cause in anchor.causes.items()}
    fields: dict[str, Any] = {
        "anchor": str(anchor),
        "anchor_error": costs.AnchorError(share=anchor.error, causes=causes),
    }
    if isinstance(anchor, CalibrationProfile):
        fields["anchor_classes"] = [dict(vars(factor)) for factor in anchor.classes]
    return fields


def platform_fields(platform: Platform) -> dict[str, Any]:
    """Return the fields of a result that say on which platform it was simulated."""
    names = {"chip": platform.chip.name, "stack": platform.stack.name}
    stated = {"software": platform.software, "vtcm_mb": platform.vtcm_mb}
    return {**names, **stated, **anchor_fields(platform.anchor)}


def time_error(platform: Platform, runtime: Runtime) -> costs.TimeError | None:
    """Return how wrong times on a runtime have been; with an anchor its own error counts."""
    if platform.anchor is not None or platform.ideal_cpu:
        return None
    return costs.TimeError.of(platform.chip.name, platform.stack.name, runtime)


def time_errors(platform: Platform, *runtimes: Runtime) -> dict[str, costs.TimeError]:
    """Return how wrong times have been on those of the runtimes of which this is known."""
    known = ((runtime, time_error(platform, runtime)) for runtime in runtimes)
    return {runtime: error for runtime, error in known if error is not None}


def place_errors(places: Iterable[tuple[Platform, Runtime]]) -> dict[str, costs.TimeError]:
    """Return how wrong times at places have been, by chip and runtime, where this is known."""
    known = {f"{on.chip.name} {runtime}": time_error(on, runtime) for on, runtime in places}
    return {where: error for where, error in known.items() if error is not None}


def interference_of(
    loads: tuple[str, ...], alone: Result, beside: Result, clients: Iterable[ClientTiming]
) -> costs.Interference:
    """Return inferences beside background clients, and both without each other."""
    times = [_by_name(inference) for inference in beside.inferences]
    alone_ps = _by_name(alone.inferences[0])
    names = dict.fromkeys([*alone_ps, *(name for parts in times for name in parts)])
    totals = [inference.total_ps for inference in beside.inferences]
    return costs.Interference(
        alone_us=alone.total_ps / PS_PER_US,
        mean_us=fmean(totals) / PS_PER_US,
        loads=loads,
        inferences=len(totals),
        worst_us=max(totals) / PS_PER_US,
        parts={
            name: costs.Slowdown(
                alone_us=alone_ps.get(name, 0) / PS_PER_US,
                mean_us=fmean(parts.get(name, 0) for parts in times) / PS_PER_US,
            )
            for name in names
        },
        clients=tuple(
            taken(
                costs.ClientCost,
                with_network,
                period_us=with_network.period_ps / PS_PER_US,
                deadline_us=with_network.deadline_ps / PS_PER_US,
                jobs=with_network.released,
                alone=_latency(without),
                beside=_latency(with_network),
            )
            for without, with_network in zip(clients, beside.clients, strict=True)
        ),
        timing=beside,
    )


def _latency(client: ClientTiming) -> costs.ClientLatency:
    mean_us, worst_us = client.mean_ps / PS_PER_US, client.worst_ps / PS_PER_US
    return taken(costs.ClientLatency, client, mean_us=mean_us, worst_us=worst_us)


QUEUED_INFERENCES = 10
"""Inferences in a row beside the clients."""


def interference(
    platform: Platform, workload: Workload
) -> tuple[Result, costs.Interference | None]:
    """Return a workload of one inference without its background clients, and beside any.

    It runs ten times in a row beside the clients, so that slow clients meet it too; once without
    them; and the clients run without it for as long. Raises HexsimError if the chip has no DSP, or
    the clients starve the network.
    """
    if not workload.background:
        return platform.simulate(workload), None
    queue = tuple(replace(job, count=QUEUED_INFERENCES) for job in workload.jobs)
    beside = platform.simulate(replace(workload, jobs=queue))
    alone = platform.simulate(replace(workload, background=()))
    end_ps = max(inference.end_ps for inference in beside.inferences)
    clients = clients_alone(workload, platform.chip, platform.stack, end_ps)
    loads = tuple(load.name for load in workload.background)
    return alone, interference_of(loads, alone, beside, clients)


def _by_name(inference: InferenceTiming) -> dict[str, int]:
    """Durations of layers and overheads; an overhead that comes twice counts as one."""
    times = {layer.name: layer.duration_ps for layer in inference.layers}
    for part in inference.overheads:
        name = f"({part.name})"
        times[name] = times.get(name, 0) + part.duration_ps
    return times
