"""`hexsim compare` shows the changes between two results, or a phone's profile beside a model."""

import math
from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._files import FILE, RESULT_OR_MODEL
from hexsim.cli._measured import MeasuredPhone, PhoneOutputs, compare_measured
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.errors import HexsimError


@paged
@grouped
def compare(
    *,
    before: Annotated[
        str,
        typer.Argument(help="A file that --json of a command wrote; with --measured a model."),
        RESULT_OR_MODEL,
    ],
    after: Annotated[
        list[Path] | None, typer.Argument(help="One or more other files of the same command."), FILE
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option(help="End with code 1 if a total inference got longer by more: 5%."),
    ] = None,
    phone: MeasuredPhone,
    outputs: PhoneOutputs,
) -> None:
    """Compare results, or a phone's profile with a model: networks, runtimes and layers."""
    if phone.measured is not None:
        if after or fail_above is not None:
            what = f"'{after[0]}'" if after else "--fail-above"
            raise HexsimError(
                f"--measured compares a model with the profile of a phone; leave {what} out"
            )
        if outputs.html is not None:
            raise HexsimError("--html is for two results; with --measured give --json or --csv")
        compare_measured(before, phone, outputs)
        return
    option = phone.unused() or (None if outputs.rows is None else "--rows")
    if option is not None:
        raise HexsimError(f"{option} goes with --measured; two results are compared as they are")
    if not after:
        raise HexsimError(
            "give a second result to compare with, or the profile of a phone with --measured"
        )
    _compare_results(Path(before), after, fail_above, outputs)


def _compare_results(
    before: Path, after: list[Path], fail_above: str | None, outputs: PhoneOutputs
) -> None:
    from hexsim.api import compare as api
    from hexsim.texts.figures import percent

    allowed = None if fail_above is None else _share(fail_above)
    changes = api.compare(before, *after)
    if allowed is not None and not changes.cases:
        raise HexsimError(
            f"--fail-above compares what both files have, and '{before}' and '{after[0]}' have "
            "nothing in common; give results of the same networks and runtimes"
        )
    outputs.write(changes)
    say(str(changes))
    slower = [case for case in changes.cases if allowed is not None and case.slower > allowed]
    for case in slower:
        longer = percent(case.slower)
        say(f"{case.network} on {case.runtime} got longer by {longer}, over {fail_above}")
    if slower:
        raise typer.Exit(1)


def _share(text: str) -> float:
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = math.nan
    if not 0 <= percent < math.inf:
        raise HexsimError(f"--fail-above '{text}' is not a percentage; give one such as 5%")
    return percent / 100
