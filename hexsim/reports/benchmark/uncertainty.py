"""The uncertainty interval of one inference, and every constant that contributes to it."""

from hexsim.reports.text import quantity, table
from hexsim.results.benchmark import Inference
from hexsim.texts.figures import figure, span


def uncertainty_table(case: Inference) -> str:
    """Return both intervals, then a line per constant, those that matter most first."""
    interval = case.uncertainty
    if interval is None:
        return ""
    times = {
        "total inference": (case.total_inference_us, interval.total_inference_us),
        "forward propagate": (case.forward_propagate_us, interval.forward_propagate_us),
    }
    lines = [
        f"{name}: {figure(us / 1e3)} ms, between {figure(low / 1e3)} and {figure(high / 1e3)}"
        for name, (us, (low, high)) in times.items()
    ]
    rows = [
        (
            effect.constant,
            effect.stated_by,
            effect.confidence,
            quantity(effect.interval[0], effect.unit),
            quantity(effect.value, effect.unit),
            quantity(effect.interval[1], effect.unit),
            span(*(us / 1e3 for us in effect.total_inference_us)),
            f"{effect.share:.0%}",
        )
        for effect in interval.constants
    ]
    header = ("constant", "stated by", "confidence", "low", "value", "high", "total ms", "share")
    return "\n".join([*lines, "", table(header, rows, left=frozenset({0, 1, 2}))])
