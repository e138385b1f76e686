"""The uncertainty interval of one inference, and every constant that contributes to it."""

from hexsim.reports.text import quantity, table
from hexsim.studies.uncertainty import Uncertainty
from hexsim.texts.figures import figure, span


def uncertainty_table(uncertainty: Uncertainty) -> str:
    """Return both intervals, then a line per constant, those that matter most first."""
    names = ("total inference", "forward propagate")
    lines = [
        f"{name}: {figure(nominal / 1e3)} ms, between {figure(low / 1e3)} and {figure(high / 1e3)}"
        for name, low, nominal, high in zip(
            names, uncertainty.low, uncertainty.nominal, uncertainty.high, strict=True
        )
    ]
    rows = [
        (
            sensitivity.path,
            sensitivity.datasheet,
            sensitivity.constant.confidence,
            quantity(sensitivity.low, sensitivity.constant.unit),
            quantity(sensitivity.constant.value, sensitivity.constant.unit),
            quantity(sensitivity.high, sensitivity.constant.unit),
            span(sensitivity.at_low.total_us / 1e3, sensitivity.at_high.total_us / 1e3),
            f"{share:.0%}",
        )
        for sensitivity, share in zip(uncertainty.sensitivities, uncertainty.shares, strict=True)
    ]
    header = ("constant", "stated by", "confidence", "low", "value", "high", "total ms", "share")
    return "\n".join([*lines, "", table(header, rows, left=frozenset({0, 1, 2}))])
