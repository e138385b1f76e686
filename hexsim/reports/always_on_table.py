"""An always-on network as text: average power of each alternative by part, and the better one."""

from __future__ import annotations

from hexsim.energy import EnergyEstimate
from hexsim.reports.text import table
from hexsim.studies.always_on import PARTS, AlwaysOn

_MHZ = 1e6


def always_on_text(found: AlwaysOn) -> str:
    """Return a row for each part, how each alternative comes about, and the verdict."""
    taken = [alternative for alternative in found.alternatives if not alternative.refusal]
    header = ("average power", *(f"{one.where}, mW" for one in taken))
    rows = [
        (part, *(_mw(one.parts.get(part, EnergyEstimate())) for one in taken))
        for part in PARTS
        if any(one.parts.get(part, EnergyEstimate()).high for one in taken)
    ]
    rows += [
        ("total", *(_mw(one.milliwatts) for one in taken)),
        ("awake", *(f"{one.duty:.1%}" for one in taken)),
        ("one call", *(f"{one.call_ms:.3g} ms" for one in taken)),
        ("clock", *(f"{one.clock_hz / _MHZ:.0f} MHz ({one.corner})" for one in taken)),
    ]
    notes = [text for one in taken for text in one.elsewhere]
    refused = [
        f"{alternative.where}: refused, because {alternative.refusal}"
        for alternative in found.alternatives
        if alternative.refusal
    ]
    return "\n".join([table(header, rows), "", *notes, *refused, verdict(found)])


def verdict(found: AlwaysOn) -> str:
    """Return the sentence on which alternative is the better."""
    better, *others = found.possible
    if not others:
        return f"Average power on the {better.where}: {_mw(better.milliwatts)} mW."
    ratio = others[0].milliwatts.value / better.milliwatts.value
    sure = (
        "with all constants at either end too"
        if found.is_certain
        else "but not with all constants at either end"
    )
    return f"The {better.where} is the better: 1/{ratio:.3g} of the power, {sure}."


def _mw(power: EnergyEstimate) -> str:
    return f"{power.value:.3g} ({power.low:.3g} .. {power.high:.3g})"
