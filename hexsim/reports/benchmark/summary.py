"""A network in one line: its layers by engine, its cuts, and what takes the largest part of time.

The largest part may be a layer, all layers that fell back to the CPU together, or an overhead of
the call. Nothing else can save more time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from hexsim.dlc.inspection import LETTERS
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import Model
from hexsim.reports.fitting import short_name
from hexsim.reports.text import number
from hexsim.runtimes import MAIN_ENGINE, LayerTarget

if TYPE_CHECKING:
    from hexsim.results.benchmark import Inference
    from hexsim.results.costs import LayerCost


def summary(case: Inference) -> str:
    """Return the line of one network on one runtime."""
    layers = case.layers
    if not layers:
        return f"{case.network} on {case.runtime} has no layers: nothing is computed"
    if fell_back(case):
        return (
            f"{case.network} on {case.runtime} falls back to the CPU as a whole: none of its "
            f"{number(len(layers), 'layer')} runs on {MAIN_ENGINE[case.runtime].upper()}"
        )
    cuts = "no cut" if case.subnets == 1 else f"{case.subnets} subnets"
    engines = engines_text(layers)
    return f"{case.network} on {case.runtime}: {engines}; {cuts}; {_largest_part(case)}"


def processor_lines(case: Inference) -> list[str]:
    """Return the share of time on a tensor processor, and the layers that it does not take.

    For the tensor engine of aip: which sections were chosen, where that was done here. Beside
    classes of layers that a profile has scaled: those that it has not.
    """
    lines = []
    if case.as_simulated:
        lines = [f"{case.runtime}: as simulated, without a factor: {', '.join(case.as_simulated)}"]
    if case.hta_choice is not None:
        return [f"{case.network} on aip: {case.hta_choice}", *lines]
    if MAIN_ENGINE[case.runtime] != "htp":
        return lines
    from hexsim.simulation.htp_call import CROSSINGS  # with the simulator, which `info` never uses

    on_cpu = [layer for layer in case.layers if layer.engine == "cpu"]
    crossings = [part for part in case.overheads if part.name in CROSSINGS]
    elsewhere_us = sum(layer.us for layer in on_cpu) + sum(part.us for part in crossings)
    share = 1 - elsewhere_us / (case.total_inference_us or 1.0)
    others = number(len(on_cpu), "layer") if on_cpu else "none"
    lines.append(f"{case.runtime}: npu {share:.0%}, {others} on cpu")
    reasons: dict[str, list[str]] = {}
    for layer in on_cpu:
        reasons.setdefault(case.refused.get(layer.name, ""), []).append(
            f"{short_name(layer.name)} ({layer.type})"
        )
    lines += [f"  on cpu: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return lines


def fell_back(case: Inference) -> bool:
    """Return whether the runtime has an engine of its own but the CPU computes every layer."""
    engines = {layer.engine for layer in case.layers}
    return MAIN_ENGINE[case.runtime] != "cpu" and engines == {"cpu"}


def model_summary(model: Model) -> str:
    """Return the line of a model without a runtime: the share that each runtime supports."""
    network = model.network
    return supported_text(
        [
            (
                [each for each in LETTERS.values() if refusal_in(model, layer, each) is None],
                network.macs(layer),
            )
            for layer in network.layers
        ]
    )


def supported_text(layers: Sequence[tuple[Collection[LayerTarget], int]]) -> str:
    """Return the same of layers, each with the targets that take it and its MACs."""
    targets_by_share: dict[tuple[str, str], list[LayerTarget]] = {}
    for target in LETTERS.values():
        takes = [macs for targets, macs in layers if target in targets]
        share = _share(takes, len(layers), sum(macs for _, macs in layers))
        targets_by_share.setdefault(share, []).append(target)
    parts = (
        f"{count} on {', '.join(targets)}{macs}"
        for (count, macs), targets in targets_by_share.items()
    )
    return f"Of {number(len(layers), 'layer')}: {'; '.join(parts)}"


def _share(takes: Sequence[int], layers: int, total_macs: int) -> tuple[str, str]:
    """Return how many of the layers run, and their share of the MACs if not all do."""
    if len(takes) in (0, layers):
        return ("all run" if takes else "none runs"), ""
    share = f" ({sum(takes) / total_macs:.0%} of the MACs)" if total_macs else ""
    return f"{len(takes)} run{'s' if len(takes) == 1 else ''}", share


def engines_text(layers: Sequence[LayerCost]) -> str:
    """Return the layers on each engine, with their share of the MACs."""
    counts, macs = Counter[str](), Counter[str]()
    for layer in layers:
        counts[layer.engine] += 1
        macs[layer.engine] += layer.macs
    total = sum(macs.values())
    shares = (f" ({macs[engine] / total:.0%} of the MACs)" if total else "" for engine in counts)
    return ", ".join(
        f"{number(counts[engine], 'layer')} on {engine.upper()}{share}"
        for engine, share in zip(counts, shares, strict=True)
    )


def _largest_part(case: Inference) -> str:
    share, name = max(_candidates(case))
    return f"the largest part of the time, {share:.0%}, is spent on {name}"


def _candidates(case: Inference) -> Iterator[tuple[float, str]]:
    """Yield shares of the total time, each with the name of its cause."""
    total_us = case.total_inference_us or 1.0
    fallbacks = []
    for layer in case.layers:
        share = layer.us / total_us
        where = f"{layer.type} '{short_name(layer.name)}' on {layer.engine.upper()}"
        yield share, f"{where} (bound by {layer.bound})"
        if layer.engine == "cpu" != MAIN_ENGINE[case.runtime]:
            fallbacks.append((share, where))
    if len(fallbacks) > 1:
        longest = max(fallbacks)[1]
        yield (
            sum(share for share, _ in fallbacks),
            f"{len(fallbacks)} layers, first of all {longest}",
        )
    for part in case.overheads:
        yield part.us / total_us, f"{part.purpose} ({part.name})"
