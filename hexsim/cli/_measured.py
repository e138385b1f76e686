"""Options of a comparison with a profile that was measured on a phone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import FILE, OUTPUT
from hexsim.cli._options import (
    BufferOption,
    ChipOption,
    FallbackOption,
    HtaOption,
    OverrideParamsOption,
    ProfileOption,
    parse_optional_runtime,
    runtime_names,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._signature import Reads
from hexsim.cli._simulated import Hardware, Shapes
from hexsim.errors import spelled
from hexsim.runtimes import Runtime

if TYPE_CHECKING:
    from hexsim.results.phone import PhoneComparison


@dataclass(frozen=True)
class MeasuredPhone(Shapes, Hardware):
    """The profile of a phone, and how the simulation beside it is made; it needs a chip."""

    chip: ChipOption = ""
    measured: Annotated[
        Path | None,
        typer.Option(
            help="Profile of a phone to set beside a model: CSV of snpe_bench.py or of "
            "qnn-profile-viewer, text of snpe-diagview, JSON of an AI Hub profile job."
        ),
        FILE,
    ] = None
    runtime: Annotated[
        Runtime | None,
        Reads(str | None, parse_optional_runtime),
        typer.Option(
            help="With --measured: the runtime; default: that of the profile.",
            autocompletion=runtime_names,
        ),
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

    def beside(self, model: str) -> PhoneComparison:
        """Simulate `model` beside the profile."""
        from hexsim.api.compare import compare_measured

        return compare_measured(model, **self.keywords())


@dataclass(frozen=True)
class PhoneOutputs(JsonCsvHtml):
    """Results for programs, and rows for calibration."""

    rows: Annotated[
        Path | None,
        typer.Option(help="With --measured: write the layers as rows for calibration."),
        OUTPUT,
    ] = None


def compare_measured(model: str, phone: MeasuredPhone, outputs: PhoneOutputs) -> None:
    """Print the profile of a phone beside the simulation of `model`, and write the files."""
    from hexsim.cli._say import say
    from hexsim.results.document import csv_of
    from hexsim.results.phone import CalibrationRow

    answer = phone.beside(model)
    outputs.write(
        answer,
        rows=lambda: csv_of(answer.calibration, CalibrationRow),
    )
    say(str(answer))
