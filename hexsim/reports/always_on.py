"""An always-on network as text and as JSON."""

from hexsim.datasheets.estimate import Estimate
from hexsim.reports.document import Record
from hexsim.reports.inference.energy import ranged
from hexsim.reports.text import table
from hexsim.studies.always_on import PARTS, AlwaysOn
from hexsim.texts.figures import figure, percent

_MHZ = 1e6


def always_on_text(study: AlwaysOn) -> str:
    """Return a row for each part, how each alternative comes about, and the verdict."""
    possible = [alternative for alternative in study.alternatives if not alternative.refusal]
    header = ("average power", *(alternative.where for alternative in possible))
    rows = [
        (
            f"{part} (mW)",
            *(ranged(alternative.parts.get(part, Estimate())) for alternative in possible),
        )
        for part in PARTS
        if any(alternative.parts.get(part, Estimate()).high for alternative in possible)
    ]
    rows += [
        ("total (mW)", *(ranged(alternative.milliwatts) for alternative in possible)),
        ("awake", *(percent(alternative.duty) for alternative in possible)),
        ("one call (ms)", *(figure(alternative.call_ms) for alternative in possible)),
        (
            "clock (MHz)",
            *(
                f"{alternative.clock_hz / _MHZ:.0f} ({alternative.corner})"
                for alternative in possible
            ),
        ),
    ]
    notes = [text for alternative in possible for text in alternative.elsewhere]
    refused = [
        f"{alternative.where}: refused, because {alternative.refusal}"
        for alternative in study.alternatives
        if alternative.refusal
    ]
    return "\n".join([table(header, rows), "", *notes, *refused, verdict(study)])


def verdict(study: AlwaysOn) -> str:
    """Return the sentence on which alternative is the better."""
    better, *alternatives = study.possible
    if not alternatives:
        return f"Average power on the {better.where}: {ranged(better.milliwatts)} mW."
    ratio = alternatives[0].milliwatts.value / better.milliwatts.value
    sure = (
        "with all constants at either end too"
        if study.is_certain
        else "but not with all constants at either end"
    )
    return f"The {better.where} is the better: 1/{figure(ratio)} of the power, {sure}."


_alternative = Record(
    "The island or the DSP; power by part.",
    "where",
    (
        lambda alternative: None if alternative.refusal else alternative,
        "average_power_mw=milliwatts parts_mw=parts duty call_ms corner clock_hz elsewhere",
    ),
    {"refusal": lambda alternative: alternative.refusal or None},
)

always_on_facts = Record(
    "What always-on found.",
    ("platform", "chip=chip.name stack=stack.name"),
    ("study", "network every_ms better=possible.0.where at_both_ends=is_certain"),
    {"alternatives": ("study.alternatives", [_alternative])},
    results="study platform",
)
