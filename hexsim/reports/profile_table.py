"""The profile of one inference: a line per layer, then overheads and coverage."""

from __future__ import annotations

from hexsim.reports.text import table
from hexsim.results import InferenceTiming, LayerTiming, Result

HEADER = (
    "layer",
    "type",
    "engine",
    "cycles",
    "us",
    "share",
    "MMAC",
    "MAC/cycle",
    "packets",
    "stalls",
    "HVX",
    "DDR kB",
    "bound",
    "cost model",
)

_COLUMNS = (
    "stalls: share of its threads' issue slots in which nothing issues; "
    "HVX: share of all vector contexts' issue slots that are used"
)


def profile_table(result: Result) -> str:
    """Return the layers, the overheads, their sum and the coverage of the first inference."""
    inference = result.inferences[0]
    rows = [_layer_row(layer, inference.total_ps) for layer in inference.layers]
    for part in inference.overheads:
        share = f"{part.duration_ps / inference.total_ps:.1%}"
        rows.append((f"({part.name})", "", "", "", f"{part.us:.1f}", share, *[""] * 8))
    total = f"{inference.total_ps / 1e6:.1f}"
    macs = f"{sum(layer.macs for layer in inference.layers) / 1e6:.1f}"
    rows.append(("total inference", "", "", "", total, "100.0%", macs, *[""] * 7))
    text = table(HEADER, rows, left=frozenset({0, 1, 2, 12, 13}))
    return f"{text}\n\n{_COLUMNS}\n{_coverage(result)}\n{_forward(inference)}\n{_init(result)}"


def _layer_row(layer: LayerTiming, total_ps: int) -> tuple[str, ...]:
    return (
        layer.name,
        layer.type,
        layer.engine,
        f"{layer.cycles}",
        f"{layer.us:.1f}",
        f"{layer.duration_ps / total_ps:.1%}",
        f"{layer.macs / 1e6:.2f}" if layer.macs else "",
        f"{layer.macs / layer.cycles:.1f}" if layer.macs and layer.cycles else "",
        f"{layer.packets}" if layer.packets else "",
        f"{layer.stall_share:.0%}" if layer.packets else "",
        f"{layer.hvx_utilisation:.0%}" if layer.packets else "",
        f"{layer.ddr_bytes / 1024:.0f}",
        layer.bound,
        layer.cost_model,
    )


def _coverage(result: Result) -> str:
    coverage = result.coverage
    parts = (
        f"{model} {coverage.layer_share(model):.1%} of layers, "
        f"{coverage.mac_share(model):.1%} of MACs"
        for model in sorted(coverage.layers)
    )
    return f"costed by: {'; '.join(parts)}"


def _forward(inference: InferenceTiming) -> str:
    return f"forward propagate: {inference.forward_ps / 1e6:.1f} us"


def _init(result: Result) -> str:
    parts = ", ".join(f"{part.name} {part.us / 1e3:.2f}" for part in result.init)
    return f"initialisation before the first inference: {result.init_ps / 1e9:.2f} ms ({parts})"
