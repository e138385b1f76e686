"""The loss from rescaling asymmetric weights at load, as a line and as a table."""

from collections.abc import Sequence

from hexsim.accuracy.rescaling import RescalingLoss, worst
from hexsim.reports.text import table

REMEDY = "symmetric weights (--use-symmetric-quantize-weights, --axis-quant) are taken as they are"


def rescaling_line(losses: Sequence[RescalingLoss]) -> str:
    """Return a line that names the worst layer."""
    loss = worst(losses)
    return (
        f"weights rescaled to signed ones at load: {len(losses)}, worst '{loss.layer}' with "
        f"{loss.sqnr_db:.1f} dB, max error {loss.max_error:.3g} ({loss.steps:.2f} steps); {REMEDY}"
    )


def rescaling_table(losses: Sequence[RescalingLoss], chip: str) -> str:
    """Return all losses in network order."""
    if not losses:
        return f"{chip} rescales no weights at load"
    header = ("layer", "weight", "SQNR dB", "max error", "in steps")
    rows = [
        (
            loss.layer,
            loss.weight,
            f"{loss.sqnr_db:.1f}",
            f"{loss.max_error:.3g}",
            f"{loss.steps:.2f}",
        )
        for loss in losses
    ]
    head = f"{chip} rescales asymmetric weights per output channel to signed ones at load; {REMEDY}"
    return f"{head}\n{table(header, rows, left=frozenset({0, 1}))}"
