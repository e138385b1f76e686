"""How sure the order of two runtimes is, by the draws of all constants in doubt."""

from collections.abc import Sequence
from itertools import groupby, pairwise

from hexsim.results.benchmark import Inference, RuntimeOrder
from hexsim.results.costs import Draws


def orders(results: Sequence[Inference]) -> tuple[RuntimeOrder, ...]:
    """Return how sure the order of each two neighbours in time is, where constants were drawn.

    Times are those of the table.
    """
    result: list[RuntimeOrder] = []
    for (network, chip), group in groupby(results, key=lambda case: (case.network, case.chip)):
        ranked = sorted(group, key=lambda case: case.total_inference_us)
        for first, second in pairwise(ranked):
            if first.draws and second.draws:
                result.append(
                    RuntimeOrder(
                        network=network,
                        chip=chip,
                        first=first.runtime,
                        second=second.runtime,
                        share=_before(first.draws, second.draws),
                        draws=first.draws.count,
                        contradicted=_contradicted(first, second),
                    )
                )
    return tuple(result)


def _before(first: Draws, second: Draws) -> float:
    """Return the share of draws in which the first total time is the shorter; ties count half."""
    pairs = list(zip(first.totals_us, second.totals_us, strict=True))
    return sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


def _contradicted(first: Inference, second: Inference) -> bool:
    """Return whether both were measured and the second was always faster."""
    first_ms, second_ms = (case.measured_ms.total_inference for case in (first, second))
    return bool(first_ms and second_ms) and max(second_ms) < min(first_ms)
