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
    InputDimOption,
    NoFallbackOption,
    NoHtaOption,
    OverrideParamsOption,
    ProfileOption,
    parse_input_dims,
    parse_runtime,
    runtime_names,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._simulated import Hardware

if TYPE_CHECKING:
    from hexsim.results.phone import PhoneComparison


@dataclass(frozen=True)
class MeasuredPhone(Hardware):
    """The profile of a phone, and how the simulation beside it is made; it needs a chip."""

    chip: ChipOption = ""
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured",
            help="Profile of a phone to set beside a model: CSV of snpe_bench.py or of "
            "qnn-profile-viewer, text of snpe-diagview, JSON of an AI Hub profile job.",
        ),
        FILE,
    ] = None
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help="With --measured: the runtime; default: that of the profile.",
            autocompletion=runtime_names,
        ),
    ] = None
    perf_profile: ProfileOption = None
    buffer: BufferOption = None
    input_dim: InputDimOption = None
    no_cpu_fallback: NoFallbackOption = False
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def unused(self) -> str | None:
        """Return an option that goes with --measured only and was given, or None."""
        defaults = type(self)()
        for field in fields(self):
            if getattr(self, field.name) != getattr(defaults, field.name):
                return f"--{field.name.replace('_', '-')}"
        return None

    def beside(self, model: str) -> PhoneComparison:
        """Simulate `model` beside the profile."""
        from hexsim.api.compare import compare_measured

        assert self.measured is not None
        return compare_measured(
            model,
            self.measured,
            self.chip,
            None if self.runtime is None else parse_runtime(self.runtime),
            **self.settings(),
            perf_profile=self.perf_profile,
            buffer=self.buffer,
            override_params=self.override_params,
            hta=not self.no_hta,
            cpu_fallback=not self.no_cpu_fallback,
            input_dims=parse_input_dims(self.input_dim),
        )


@dataclass(frozen=True)
class PhoneOutputs(JsonCsvHtml):
    """Results for programs, and rows for calibration."""

    rows: Annotated[
        Path | None,
        typer.Option("--rows", help="With --measured: write the layers as rows for calibration."),
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
