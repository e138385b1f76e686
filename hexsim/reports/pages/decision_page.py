"""The page of a decision: what to take and why, all choices, what is out, and the commands."""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.reports.decision_data import decision_facts
from hexsim.reports.decision_table import recommendation
from hexsim.reports.pages.figures.choices import choices_figure
from hexsim.reports.pages.figures.figure import Figure, Table
from hexsim.reports.pages.report import Heading, report
from hexsim.studies.decision import Decision


def decision_page(decision: Decision, commands: Sequence[str], command: str) -> str:
    """Return the page; `commands` give the figures of the first choice again."""
    facts = decision_facts(decision, commands)
    figures = [choices_figure(facts)] if decision.ranked else []
    out = [(one["mode"], one["chip"], one["where"], one["reason"]) for one in facts["ruled_out"]]
    if out:
        text = "What a runtime does not take, or a limit does not allow, and why."
        figures.append(Figure("Ruled out", text, Table(("mode", "chip", "where", "reason"), out)))
    if commands:
        text = "They give the same figures again."
        figures.append(Figure("Commands", text, Table(("command",), [(one,) for one in commands])))
    best = decision.ranked[:1]
    heading = Heading(
        f"A decision for {decision.network}",
        "; ".join((f"{decision.items} inputs", *decision.notes)),
        command,
        (
            ("Recommendation", recommendation(decision)),
            *(("First choice", f"{one.mode.name} on {one.where}") for one in best),
            ("Choices", f"{len(decision.ranked)}"),
        ),
    )
    return report(heading, figures)
