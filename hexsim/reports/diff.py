"""What two models differ in, as a table for each kind of difference."""

from hexsim.reports.text import table
from hexsim.results.difference import KINDS, Difference


def diff_table(answer: Difference) -> str:
    """Return the tables that have lines, or a sentence if there is no difference."""
    if not answer:
        return f"{answer.first} and {answer.second} do not differ"
    return "\n\n".join(filter(None, (_table(answer, kind) for kind in KINDS)))


def _table(answer: Difference, kind: str) -> str:
    header = {
        "layers": ("layer", "only in"),
        "weights": ("layer", "what", "largest difference", "values that differ"),
        "sections": ("chip", "what", answer.first, answer.second),
    }.get(kind, ("layer", "what", answer.first, answer.second))
    rows = [
        (row.layer, row.what, row.first, row.second)[: len(header)]
        for row in answer.rows
        if row.difference == KINDS[kind]
    ]
    left = frozenset(range(len(header)))
    return f"{KINDS[kind]}\n{table(header, rows, left=left)}" if rows else ""
