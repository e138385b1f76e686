"""Judges cases by their numbers, and prints what each said and each place that broke once."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.fuzz.watch import HangError


def judge_all(numbers: Iterable[int], judged: Callable[[int], str]) -> None:
    """Print what `judged` says of each number; whatever it raises is a fault."""
    broken: set[str] = set()
    for number in numbers:
        try:
            print(number, "|", judged(number))
        except (Exception, HangError) as error:  # that is what is looked for
            what = f"{type(error).__name__} {_place(error)} {str(error)[-700:]!r}"
            if what not in broken:
                print("BROKEN", number, what, flush=True)
            broken.add(what)
    print(len(broken), "places")


def _place(error: BaseException) -> str:
    """The innermost line of hexsim that the error passed."""
    trace = traceback.extract_tb(error.__traceback__)
    own = [at for at in trace if Path("hexsim").resolve() in Path(at.filename).parents]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
