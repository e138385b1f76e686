"""Which layers of a network fall back to the CPU runtime, from which runtime, and why."""

from hexsim.graph.ir import Layer, Network
from hexsim.layers import Opaque, UserDefined
from hexsim.layers.support import refusal
from hexsim.reports.text import table
from hexsim.runtimes import RUNTIMES

HEADER = ("node", "operator", "falls back from", "reason")


def fallback_table(network: Network) -> str:
    """Return a line per layer and reason, then how many layers fall back somewhere."""
    rows = [row for layer in network.layers for row in _rows(layer, network)]
    total = len(network.layers)
    if not rows:
        return f"every runtime takes all {total} layers of {network.name}"
    layers = len({row[0] for row in rows})
    text = table(HEADER, rows, left=frozenset(range(len(HEADER))))
    return f"{text}\n\n{layers} of {total} layers of {network.name} fall back to the CPU runtime"


def opaque_lines(network: Network) -> list[str]:
    """Return a sentence per opaque or user-defined node that the DSP refuses."""
    nodes = [layer for layer in network.layers if isinstance(layer, Opaque | UserDefined)]
    refusals = ((layer, refusal(layer, "dsp", network)) for layer in nodes)
    return [
        f"node '{layer.name}' ({layer.type}): {reason}; it falls back to the CPU runtime"
        for layer, reason in refusals
        if reason is not None
    ]


def _rows(layer: Layer, network: Network) -> list[tuple[str, str, str, str]]:
    reasons: dict[str, list[str]] = {}
    for runtime in RUNTIMES:
        reason = refusal(layer, runtime, network)
        if reason is not None:
            reasons.setdefault(reason, []).append(runtime)
    return [
        (layer.name, layer.type, " ".join(runtimes), reason) for reason, runtimes in reasons.items()
    ]
