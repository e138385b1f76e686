"""Answers as text, JSON and CSV.

The text has the form that the scripts in SNPE's tutorials print: a file, then score, class, name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hexsim.accuracy.answers import Answer
from hexsim.reports.csv_text import csv_text
from hexsim.reports.document import plain


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


def answers_json(answers: Sequence[Answer]) -> str:
    """Return a list of files with their guesses, likeliest first; infinite scores are null."""
    tree = [
        {
            "file": answer.file,
            "top": [
                {"class": guess.label, "name": guess.name or None, "score": plain(guess.score)}
                for guess in answer.guesses
            ],
        }
        for answer in answers
    ]
    return json.dumps({"answers": tree}, indent=1, allow_nan=False) + "\n"


def answers_csv(answers: Sequence[Answer]) -> str:
    """Return a row per guess."""
    rows = [
        (answer.file, place, guess.label, guess.name, f"{guess.score:.9g}")
        for answer in answers
        for place, guess in enumerate(answer.guesses, start=1)
    ]
    return csv_text(("file", "place", "class", "name", "score"), rows)
