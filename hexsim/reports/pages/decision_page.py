"""The page of a decision: recommendation, all choices, what is ruled out, and commands."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.decision.data import decision_facts
from hexsim.reports.decision.groups import OutGroup, out_groups
from hexsim.reports.decision.table import (
    CHANGES_HEADER,
    CHANGES_TITLE,
    NO_CHANGE,
    changes_rows,
    energy_text,
    losses_of,
    recommendation,
    recommended,
)
from hexsim.reports.pages.figures.choices import choices_figure, runtimes_summary
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.figures.timeline import timelines
from hexsim.reports.pages.report import Heading, report
from hexsim.reports.text import number
from hexsim.studies.decision import Decision, RuledOut
from hexsim.texts.figures import figure, size, span
from hexsim.timing.results import Result


def decision_page(
    decision: Decision,
    commands: Sequence[str],
    command: str,
    inferences: Mapping[str, Result] | None = None,
) -> str:
    """Return the page; `commands` reproduce the figures of the first choice.

    `inferences` are results of the best choices, by chip and runtime, which share one time axis.
    """
    facts = decision_facts(decision, commands)
    figures = [choices_figure(facts)] if decision.ranked else []
    if decision.ranked or decision.ruled_out:
        figures.append(runtimes_summary(facts))
    if inferences:
        places = dict.fromkeys(choice.place for choice in decision.ranked)
        figures.append(timelines(inferences, missing=len(places) - len(inferences)))
    if losses := losses_of(decision):
        lost = [(", ".join(modes), sentence) for sentence, modes in losses.items()]
        text = "Values that the encodings of modes lose, those of the first choice first."
        figures.append(Figure("Lost for certain", text, FigureTable(("modes", "finding"), lost)))
    if decision.ranked:
        rows = changes_rows(decision)
        text = "Each was tried on a copy, on the chip and runtime of the first choice."
        changes = FigureTable(CHANGES_HEADER, rows)
        figures.append(Figure(CHANGES_TITLE, text if rows else NO_CHANGE, changes))
    if decision.ruled_out:
        figures.append(_out_figure(decision.ruled_out))
    if commands:
        text = "They give the same figures again."
        figures.append(
            Figure(
                "Commands", text, FigureTable(("command",), [(command,) for command in commands])
            )
        )
    first, *reasons = recommendation(decision).splitlines()
    heading = Heading(
        f"A decision for {decision.network}",
        "; ".join((number(decision.items, "input"), *decision.notes)),
        command,
        _summary(facts["choices"][0], decision) if decision.ranked else (),
        (recommended(decision.ranked[0]) + "." if decision.ranked else first, *reasons),
    )
    return report(heading, figures)


def _summary(best: Mapping[str, Any], decision: Decision) -> tuple[tuple[str, str], ...]:
    """Return costs and accuracy of the first choice."""
    total = f"{figure(best['total_inference_us'] / 1e3)} ms"
    if best["low_us"] is not None:
        total += f" ({span(best['low_us'] / 1e3, best['high_us'] / 1e3)})"
    entries = [
        ("Total inference", total),
        ("Peak memory", size(best["peak_bytes"])),
        ("Energy", energy_text(best["energy_mj"], best["energy_low_mj"], best["energy_high_mj"])),
    ]
    if best["loss_points"] is not None:
        label = "Top-1 lost" if decision.labelled else "Agreement with float lost"
        entries.append((label, f"{figure(best['loss_points'])} points"))
    noise = best["sqnr_db"]
    entries.append(("SQNR", "exactly as float" if noise is None else f"{figure(noise)} dB"))
    return (*entries, ("Choices within the limits", f"{len(decision.ranked)}"))


def _out_figure(ruled_out: Sequence[RuledOut]) -> Figure:
    """Return the reasons, those with the most choices first."""
    groups = sorted(out_groups(ruled_out), key=lambda group: -len(group.candidates))
    text = (
        f"{number(len(ruled_out), 'choice')} that a runtime does not take or a limit does not "
        "allow, by reason. Of a limit there is the figure nearest to it, and the furthest."
    )
    header = ("choices", "reason", "nearest", "furthest", "modes", "where")
    return Figure("Ruled out", text, FigureTable(header, [_out_row(group) for group in groups]))


def _out_row(group: OutGroup) -> tuple[str | int, ...]:
    where = (", ".join(group.modes), ", ".join(group.places))
    return (len(group.candidates), group.reason, group.nearest, group.furthest, *where)
