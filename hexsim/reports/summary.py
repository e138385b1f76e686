"""A network in a line: which engine runs what, how often it is cut, and what would help most.

A layer can save no more than it takes, so what would help most is what takes most: a layer, all
that fell back to the CPU together, or an overhead of the call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hexsim.dlc.inspection import LETTERS
from hexsim.graph.ir import Layer, Network
from hexsim.quantization.float_layers import refusal_in
from hexsim.quantization.model import Model
from hexsim.runtimes import MAIN_ENGINE, LayerTarget
from hexsim.studies.benchmark import Case
from hexsim.timing.results import LayerTiming


def summary(case: Case) -> str:
    """Return the line of one network on one runtime."""
    layers = case.timing.layers
    if not layers:
        return f"{case.network} on {case.runtime} has no layers: nothing is computed"
    if fell_back(case):
        return (
            f"{case.network} on {case.runtime} falls back to the CPU as a whole: none of its "
            f"{_layers(len(layers))} runs on {MAIN_ENGINE[case.runtime].upper()}"
        )
    cuts = "no cut" if case.subnets == 1 else f"{case.subnets} subnets"
    return f"{case.network} on {case.runtime}: {_engines(layers)}; {cuts}; {_would_help(case)}"


def fell_back(case: Case) -> bool:
    """True if the runtime has an engine of its own and the CPU computes every layer."""
    engines = {layer.engine for layer in case.timing.layers}
    return MAIN_ENGINE[case.runtime] != "cpu" and engines == {"cpu"}


def model_summary(model: Model) -> str:
    """Return the line of a network that is on no runtime yet: who takes how much of it."""
    network = model.network
    takers: dict[tuple[str, str], list[LayerTarget]] = {}
    for target in LETTERS.values():
        taken = [layer for layer in network.layers if refusal_in(model, layer, target) is None]
        takers.setdefault(_taken(network, taken), []).append(target)
    parts = (f"{what} on {', '.join(where)}{macs}" for (what, macs), where in takers.items())
    return f"Of {_layers(len(network.layers))}: {'; '.join(parts)}"


def _taken(network: Network, taken: Sequence[Layer]) -> tuple[str, str]:
    """How many of the layers run somewhere, and how much of the work that is if not all."""
    if len(taken) in (0, len(network.layers)):
        return ("all run" if taken else "none runs"), ""
    macs = sum(map(network.macs, taken))
    share = f" ({macs / network.total_macs:.0%} of the MACs)" if network.total_macs else ""
    return f"{len(taken)} run{'s' if len(taken) == 1 else ''}", share


def _engines(layers: Sequence[LayerTiming]) -> str:
    counts, macs = Counter[str](), Counter[str]()
    for layer in layers:
        counts[layer.engine] += 1
        macs[layer.engine] += layer.macs
    total = sum(macs.values())
    shares = (f" ({macs[engine] / total:.0%} of the MACs)" if total else "" for engine in counts)
    return ", ".join(
        f"{_layers(counts[engine])} on {engine.upper()}{share}"
        for engine, share in zip(counts, shares, strict=True)
    )


def _would_help(case: Case) -> str:
    share, name = max(_candidates(case))
    return f"the largest part of the time, {share:.0%}, goes on {name}"


def _candidates(case: Case) -> Iterator[tuple[float, str]]:
    """Shares of the total time, and what takes them."""
    total_ps = max(1, case.timing.total_ps)
    fallen = []
    for layer in case.timing.layers:
        share = layer.duration_ps / total_ps
        where = f"{layer.type} '{layer.name}' on {layer.engine.upper()}"
        yield share, f"{where} (bound by {layer.bound})"
        if layer.engine == "cpu" != MAIN_ENGINE[case.runtime]:
            fallen.append((share, where))
    if len(fallen) > 1:
        longest = max(fallen)[1]
        yield sum(share for share, _ in fallen), f"{len(fallen)} layers, first of all {longest}"
    for part in case.timing.overheads:
        yield part.duration_ps / total_ps, f"overhead {part.name}"


def _layers(count: int) -> str:
    return f"{count} layer{'' if count == 1 else 's'}"
