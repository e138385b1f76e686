"""What a published benchmark says of answers: right, wrong, or none, as the program crashed.

One row of measured_answers.csv is one network on one runtime of a device. The networks were trained
and judged by their publisher, so a row is no statement about the made-up weights of a built-in
network; tables only show it beside them. Left out: how wrong an answer was, which is not published.
"""

import functools
from dataclasses import dataclass

from hexsim.datasheets.measurements.csv_rows import read_rows

FAULT = "segmentation fault"
"""Outcome of a program that crashed, so that it has neither answers nor times."""


@dataclass(frozen=True)
class MeasuredOutcome:
    """The `outcome` of one network: right, wrong or `FAULT`.

    `confidence` is documented if the source says it of this network and runtime, else inferred.
    """

    chip: str
    stack: str
    model: str
    runtime: str
    outcome: str
    confidence: str
    note: str
    source: str

    def __str__(self) -> str:
        return self.outcome + ("?" if self.confidence == "inferred" else "")


@functools.cache
def outcomes() -> tuple[MeasuredOutcome, ...]:
    """Read every row, in file order."""
    return read_rows("measured_answers.csv", MeasuredOutcome)


def outcome(model: str, chip: str, stack: str, runtime: str) -> MeasuredOutcome | None:
    """Return the row of a built-in network on a runtime; None if nothing is published."""
    key = (model, chip, stack, runtime)
    matching = (r for r in outcomes() if (r.model, r.chip, r.stack, r.runtime) == key)
    return next(matching, None)
