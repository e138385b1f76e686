"""`hexsim compare` shows the changes between two results, or a phone's profile beside a model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._files import FILE, OUTPUT, RESULT_OR_MODEL
from hexsim.cli._options import (
    RUNTIME,
    BufferOption,
    ChipOption,
    FallbackOption,
    HtaOption,
    OverrideParamsOption,
    ProfileOption,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Hardware, Shapes
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass, fields
from hexsim.runtimes import Runtime


@dataclass(frozen=True)
class MeasuredPhone(Shapes, Hardware):
    """The profile of a phone, and how the simulation beside it is made; it needs a chip."""

    chip: ChipOption = ""
    measured: Annotated[
        Path | None,
        "Profile of a phone to set beside a model: CSV of snpe_bench.py or of "
        "qnn-profile-viewer, text of snpe-diagview, JSON of an AI Hub profile job.",
        FILE,
    ] = None
    runtime: Annotated[
        Runtime | None, RUNTIME, "With --measured: the runtime; default: that of the profile."
    ] = None
    perf_profile: ProfileOption = None
    buffer: BufferOption = None
    cpu_fallback: FallbackOption = True
    override_params: OverrideParamsOption = None
    hta: HtaOption = True

    def unused(self) -> str | None:
        """Return an option that goes with --measured only and was given, or None."""
        defaults = type(self)()
        for field in fields(self):
            if (getattr(self, field.name) or None) != (getattr(defaults, field.name) or None):
                return spelled(field.name)
        return None


@dataclass(frozen=True)
class PhoneOutputs(JsonCsvHtml):
    """Results for programs, and rows for calibration."""

    rows: Annotated[
        Path | None, "With --measured: write the layers as rows for calibration.", OUTPUT
    ] = None


def _beside_phone(model: str, phone: MeasuredPhone, outputs: PhoneOutputs) -> None:
    from hexsim.api.compare import compare_measured
    from hexsim.results.document import csv_of
    from hexsim.results.phone import CalibrationRow

    answer = compare_measured(model, **phone.keywords())
    outputs.write(answer, rows=lambda: csv_of(answer.calibration, CalibrationRow))
    say(str(answer))


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
        str | None, "End with code 1 if a total inference got longer by more: 5%."
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
        _beside_phone(before, phone, outputs)
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
        say(f"{case.name} got longer by {longer}, over {fail_above}")
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
