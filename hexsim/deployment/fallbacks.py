"""Why layers of a result run on the CPU, and what crossing to it and back takes.

The crossings are everything on the critical path between the last layer before and the first one on
the CPU, and between the last one there and the next on the engine, except the launches of earlier
layers. Neighbouring layers on the CPU share them: the first has the way there, the last the way
back. At the ends of a network the values cross in any case, so that a layer there has no crossing
of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hexsim.graph.ir import Layer
from hexsim.planning.plan import Subnet
from hexsim.simulation.inference import LAUNCHES
from hexsim.timing.results import InferenceTiming, Result


def explained(result: Result, subnets: Sequence[Subnet], why: Callable[[Layer], str]) -> Result:
    """Return a result whose first inference says why the CPU computes layers of an engine."""
    first, *others = result.inferences
    layers = {layer.name: layer for layer in first.layers}
    for number, subnet in enumerate(subnets):
        if not subnet.is_fallback:
            continue
        there_us, back_us = _crossings_us(subnets, number, first)
        for layer in subnet.layers:
            layers[layer.name] = replace(
                layers[layer.name],
                cpu_reason=why(layer) or subnet.reason,
                to_cpu_us=there_us if layer is subnet.layers[0] else 0.0,
                from_cpu_us=back_us if layer is subnet.layers[-1] else 0.0,
            )
    return replace(result, inferences=(replace(first, layers=tuple(layers.values())), *others))


def _crossings_us(
    subnets: Sequence[Subnet], number: int, inference: InferenceTiming
) -> tuple[float, float]:
    if number in (0, len(subnets) - 1):
        return 0.0, 0.0
    of = {layer.name: layer for layer in inference.layers}
    before, own, after = (
        [of[layer.name] for layer in subnets[at].layers] for at in (number - 1, number, number + 1)
    )

    def between_us(first_ps: int, last_ps: int) -> float:
        inside = (each for each in inference.overheads if first_ps <= each.start_ps < last_ps)
        return sum(each.us for each in inside if each.name != LAUNCHES)

    left_ps = max(layer.start_ps + layer.duration_ps for layer in before)
    end_ps = max(layer.start_ps + layer.duration_ps for layer in own)
    return (
        between_us(left_ps, min(layer.start_ps for layer in own)),
        between_us(end_ps, min(layer.start_ps for layer in after)),
    )
