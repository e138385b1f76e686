"""Answers as text, JSON and CSV.

The text has the form that the scripts in SNPE's tutorials print: a file, then score, class, name.
"""

from collections.abc import Sequence

from hexsim.accuracy.classes import Answer
from hexsim.reports.document import Record
from hexsim.texts.csv_text import csv_text


def answers_text(answers: Sequence[Answer]) -> str:
    """Return a line per guess, with the file name before the likeliest."""
    width = max((len(answer.file) for answer in answers), default=0)
    lines = ["Classification results"]
    for answer in answers:
        for place, guess in enumerate(answer.guesses):
            file = "" if place else answer.file
            line = f"{file:<{width}} {guess.score:f} {guess.label:>3} {guess.name}"
            lines.append(line.rstrip())
    return "\n".join(lines)


_guess = Record(
    "A class; infinite scores are null.",
    "class=label",
    {"name": lambda guess: guess.name or None},
    "score",
)

_answer = Record("A file and its likeliest classes.", "file", {"top": ("guesses", [_guess])})

answers_facts = Record("What run found with names of classes.", {"answers": ("", [_answer])})


def answers_csv(answers: Sequence[Answer]) -> str:
    """Return a row per guess."""
    rows = [
        (answer.file, place, guess.label, guess.name, f"{guess.score:.9g}")
        for answer in answers
        for place, guess in enumerate(answer.guesses, start=1)
    ]
    return csv_text(("file", "place", "class", "name", "score"), rows)
