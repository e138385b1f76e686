"""The page of a decision: what to take and why, all choices, what is out, and the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hexsim.reports.decision_data import decision_facts
from hexsim.reports.decision_groups import OutGroup, out_groups
from hexsim.reports.decision_table import recommendation, spent, taken
from hexsim.reports.pages.figures.choices import choices_figure, runtimes_summary
from hexsim.reports.pages.figures.figure import Figure, FigureTable
from hexsim.reports.pages.report import Heading, report
from hexsim.reports.text import number, quantity
from hexsim.studies.decision import Decision, RuledOut


def decision_page(decision: Decision, commands: Sequence[str], command: str) -> str:
    """Return the page; `commands` give the figures of the first choice again."""
    facts = decision_facts(decision, commands)
    figures = [choices_figure(facts)] if decision.ranked else []
    if decision.ranked or decision.ruled_out:
        figures.append(runtimes_summary(facts))
    if decision.ruled_out:
        figures.append(_out_figure(decision.ruled_out))
    if commands:
        text = "They give the same figures again."
        figures.append(
            Figure(
                "Commands", text, FigureTable(("command",), [(command,) for command in commands])
            )
        )
    first, *why = recommendation(decision).splitlines()
    heading = Heading(
        f"A decision for {decision.network}",
        "; ".join((number(decision.items, "input"), *decision.notes)),
        command,
        _summary(facts["choices"][0], decision) if decision.ranked else (),
        (taken(decision.ranked[0]) + "." if decision.ranked else first, *why),
    )
    return report(heading, figures)


def _summary(best: Mapping[str, Any], decision: Decision) -> tuple[tuple[str, str], ...]:
    """What the first choice costs and is worth."""
    total = f"{best['total_inference_us'] / 1e3:.2f} ms"
    if best["low_us"] is not None:
        total += f" ({best['low_us'] / 1e3:.2f} to {best['high_us'] / 1e3:.2f})"
    told = [
        ("Total inference", total),
        ("Peak memory", quantity(best["peak_bytes"], "B")),
        ("Energy", spent(best["energy_mj"], best["energy_low_mj"], best["energy_high_mj"])),
    ]
    if best["loss_points"] is not None:
        what = "Top-1 lost" if decision.labelled else "Agreement with float lost"
        told.append((what, f"{best['loss_points']:.2f} points"))
    noise = best["sqnr_db"]
    told.append(("SQNR", "exactly as float" if noise is None else f"{noise:.1f} dB"))
    return (*told, ("Choices within the limits", f"{len(decision.ranked)}"))


def _out_figure(out: Sequence[RuledOut]) -> Figure:
    """Return the reasons, those that hit most first."""
    groups = sorted(out_groups(out), key=lambda one: -len(one.those))
    text = (
        f"{number(len(out), 'choice')} that a runtime does not take or a limit does not allow, by "
        "reason. Of a limit there is the figure nearest to it, and the furthest."
    )
    header = ("choices", "reason", "nearest", "furthest", "modes", "where")
    return Figure("Ruled out", text, FigureTable(header, [_out_row(group) for group in groups]))


def _out_row(one: OutGroup) -> tuple[str | int, ...]:
    where = (", ".join(one.modes), ", ".join(one.places))
    return (len(one.those), one.reason, one.nearest, one.furthest, *where)
