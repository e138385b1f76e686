"""An always-on network as text."""

from hexsim.reports.inference.energy import ranged
from hexsim.reports.text import table
from hexsim.results.always_on import AlwaysOn
from hexsim.results.costs import Range
from hexsim.texts.figures import figure, percent

_MHZ = 1e6
_NONE = Range(value=0.0, low=0.0, high=0.0)


def always_on_text(study: AlwaysOn) -> str:
    """Return a row for each part, how each alternative comes about, and the verdict."""
    head = (
        f"{study.network} every {study.every_ms:g} ms on {study.chip}, {study.software}, "
        f"{study.perf_profile}\n"
    )
    possible = [alternative for alternative in study.alternatives if not alternative.refusal]
    parts = dict.fromkeys(part for alternative in possible for part in alternative.parts_mw)
    header = ("average power", *(alternative.where for alternative in possible))
    rows = [
        (
            f"{part} (mW)",
            *(ranged(alternative.parts_mw.get(part, _NONE)) for alternative in possible),
        )
        for part in parts
        if any(alternative.parts_mw.get(part, _NONE).high for alternative in possible)
    ]
    rows += [
        ("total (mW)", *(ranged(alternative.power) for alternative in possible)),
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
    return "\n".join([head, table(header, rows), "", *notes, *refused, verdict(study)])


def verdict(study: AlwaysOn) -> str:
    """Return the sentence on which alternative is the better."""
    better, *alternatives = study.possible
    if not alternatives:
        return f"Average power on the {better.where}: {ranged(better.power)} mW."
    ratio = alternatives[0].power.value / better.power.value
    sure = (
        "with all constants at either end too"
        if study.at_both_ends
        else "but not with all constants at either end"
    )
    return f"The {better.where} is the better: 1/{figure(ratio)} of the power, {sure}."
